//! `SolveBatch` on the wire, for tonic: the service's own messages instead of generated ones.

use tonic::{
    Status,
    codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
};

use crate::{
    limits,
    service::status,
    wire::{batch_reply::BatchReply, batch_request::BatchRequest},
};

/// Reads requests and writes replies.
#[derive(Clone, Copy, Debug)]
pub(in crate::service) struct BatchCodec {
    /// Boards of a message that are kept; those past it are only counted, as the message is refused.
    pub(in crate::service) boards_max: usize,
}

impl Codec for BatchCodec {
    type Encode = BatchReply;
    type Decode = BatchRequest;
    type Encoder = BatchCodec;
    type Decoder = BatchCodec;

    fn encoder(&mut self) -> BatchCodec {
        *self
    }

    fn decoder(&mut self) -> BatchCodec {
        *self
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
        BatchRequest::decode(buf, self.boards_max)
            .map(Some)
            .map_err(|error| status::undecodable(&error))
    }
    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::new(limits::RECEIVE_BUFFER_BYTES, usize::MAX)
    }
}
