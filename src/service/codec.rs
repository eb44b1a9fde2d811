//! `Solve` on the wire, for tonic: the generated messages, in buffers of about their size.

use tonic::codec::{BufferSettings, Codec};
use tonic_prost::{ProstDecoder, ProstEncoder};

use crate::{
    limits,
    wire::pb::{SolveRequest, SolveResponse},
};

/// Reads requests and writes responses.
#[derive(Clone, Copy, Debug)]
pub(super) struct SolveCodec;

impl Codec for SolveCodec {
    type Encode = SolveResponse;
    type Decode = SolveRequest;
    type Encoder = ProstEncoder<SolveResponse>;
    type Decoder = ProstDecoder<SolveRequest>;

    fn encoder(&mut self) -> Self::Encoder {
        ProstEncoder::new(buffer())
    }

    fn decoder(&mut self) -> Self::Decoder {
        ProstDecoder::new(buffer())
    }
}

/// tonic's own, of 8 KiB each, are beyond what an allocator has at hand. The second number is for streams: from so many
/// bytes on they wait for no other message.
fn buffer() -> BufferSettings {
    BufferSettings::new(limits::SOLVE_BUFFER_BYTES, limits::SOLVE_BUFFER_BYTES)
}
