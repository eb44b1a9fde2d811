//! `SolveBatch` on the wire, for tonic: the service's own messages instead of generated ones.

use tonic::{
    Status,
    codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
};

use crate::{
    limits,
    service::status,
    wire::{batch_reply::BatchReply, batch_request::BatchRequest},
};

/// Reads requests and writes replies.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::service) struct BatchCodec;

impl Codec for BatchCodec {
    type Encode = BatchReply;
    type Decode = BatchRequest;
    type Encoder = BatchCodec;
    type Decoder = BatchCodec;

    fn encoder(&mut self) -> BatchCodec {
        BatchCodec
    }

    fn decoder(&mut self) -> BatchCodec {
        BatchCodec
    }
}

impl Encoder for BatchCodec {
    type Item = BatchReply;
    type Error = Status;

    fn encode(&mut self, reply: BatchReply, buf: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buf.reserve(reply.bytes_max());
        reply.encode(buf);
        Ok(())
    }
}

impl Decoder for BatchCodec {
    type Item = BatchRequest;
    type Error = Status;

    fn decode(&mut self, buf: &mut DecodeBuf<'_>) -> Result<Option<BatchRequest>, Status> {
        BatchRequest::decode(buf, limits::MESSAGE_BOARDS_MAX)
            .map(Some)
            .map_err(|error| status::undecodable(&error))
    }
}
