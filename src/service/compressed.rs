//! Compressed calls: tonic reads and writes them, and decompresses no further than a message may be long.
//!
//! What a call is compressed by is in its headers, and so is refused before any of it is read.

use tonic::{
    codec::Codec,
    codegen::http::{HeaderMap, HeaderName, HeaderValue},
    server::Grpc,
};

use super::failure::Failure;
use crate::compression::Encodings;

/// What a call is compressed by.
const ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");

/// Bytes of what a call says that it is compressed by, in the answer to it.
const SHOWN_MAX: usize = 32;

/// Takes messages that are compressed by one of these, and compresses replies by the first of them that
/// the header `grpc-accept-encoding` of a call names.
pub(super) fn offered<T: Codec>(grpc: Grpc<T>, encodings: Encodings) -> Grpc<T> {
    encodings.iter().fold(grpc, |grpc, encoding| {
        grpc.accept_compressed(encoding.into())
            .send_compressed(encoding.into())
    })
}

/// Why a call with these headers cannot be read, if it cannot.
pub(super) fn refusal(headers: &HeaderMap, accepted: Encodings) -> Option<Failure> {
    let sent = headers.get(ENCODING)?;
    (!accepted.reads(sent.as_bytes())).then(|| Failure::Encoding {
        sent: shown(sent),
        accepted,
    })
}

/// A header that may be anything, as a text that is short and harmless.
fn shown(header: &HeaderValue) -> String {
    let bytes = header.as_bytes().iter().take(SHOWN_MAX);
    let shown = |&byte: &u8| {
        if byte.is_ascii_graphic() {
            char::from(byte)
        } else {
            '?'
        }
    };
    bytes.map(shown).collect()
}
