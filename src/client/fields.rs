//! The fields of an encoded message, one after the other, where they lie.

use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

/// A field's value. The contract has numbers and length-delimited values only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Number(u64),
    /// A text, a message, or packed numbers.
    Bytes(&'a [u8]),
    /// Of a kind that no field of the contract has; skipped whole.
    Foreign,
}

/// Takes the next field off `rest`, which is not empty; `None` if it is no field.
#[inline]
pub(super) fn next<'a>(rest: &mut &'a [u8]) -> Option<(u32, Value<'a>)> {
    let (tag, wire_type) = decode_key(rest).ok()?;
    let value = match wire_type {
        WireType::Varint => Value::Number(decode_varint(rest).ok()?),
        WireType::LengthDelimited => {
            let len = usize::try_from(decode_varint(rest).ok()?).ok()?;
            let (bytes, after) = rest.split_at_checked(len)?;
            *rest = after;
            Value::Bytes(bytes)
        }
        _ => {
            skip_field(wire_type, tag, rest, DecodeContext::default()).ok()?;
            Value::Foreign
        }
    };
    Some((tag, value))
}
