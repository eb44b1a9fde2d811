//! HTTP/2 by hand: a client that does what no library lets one do.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::wire::framed;

pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;
pub(crate) const ACK: u8 = 1;

pub(crate) const SOLVE: &str = "/sudoku.v1.SudokuSolver/Solve";
pub(crate) const SOLVE_BATCH: &str = "/sudoku.v1.SudokuSolver/SolveBatch";

#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

impl Frame {
    pub(crate) fn ends_stream(&self) -> bool {
        self.flags & END_STREAM != 0
    }

    /// The error code of a `RST_STREAM` or `GOAWAY`.
    pub(crate) fn reason(&self) -> u32 {
        let at = if self.kind == GOAWAY { 4 } else { 0 };
        u32::from_be_bytes(self.payload[at..at + 4].try_into().unwrap())
    }
}

#[derive(Debug)]
pub(crate) struct Raw(pub(crate) TcpStream);

impl Raw {
    /// A connection on which nothing was sent.
    pub(crate) async fn silent(address: SocketAddr) -> Raw {
        Raw(TcpStream::connect(address).await.unwrap())
    }

    /// A connection that has begun.
    pub(crate) async fn connect(address: SocketAddr) -> Raw {
        let mut raw = Raw::silent(address).await;
        raw.send(&[PREFACE, &frame(SETTINGS, 0, 0, &[])].concat())
            .await;
        raw
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.unwrap();
    }

    /// Opens a call and sends no message.
    pub(crate) async fn open(&mut self, stream: u32, path: &str) {
        self.send(&frame(HEADERS, END_HEADERS, stream, &call_headers(path)))
            .await;
    }

    /// The next frame; `None` when the connection has ended, however.
    pub(crate) async fn frame(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).await.ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        self.0.read_exact(&mut payload).await.ok()?;
        Some(Frame {
            kind: head[3],
            flags: head[4],
            stream: u32::from_be_bytes(head[5..9].try_into().unwrap()),
            payload,
        })
    }

    /// The next frame of this kind. Pings on the way are answered: by one of them a server asks, before it
    /// ends a connection, whether calls are still on their way.
    pub(crate) async fn next(&mut self, kind: u8) -> Option<Frame> {
        loop {
            let frame = self.frame().await?;
            if frame.kind == kind {
                return Some(frame);
            }
            if frame.kind == PING && frame.flags & ACK == 0 {
                let pong = self::frame(PING, ACK, 0, &frame.payload);
                // The server may be gone by now.
                let _ = self.0.write_all(&pong).await;
            }
        }
    }

    /// Reads to the end of the connection.
    pub(crate) async fn ended(&mut self) {
        const NONE: u8 = u8::MAX;
        assert!(self.next(NONE).await.is_none());
    }
}

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut bytes = vec![length[1], length[2], length[3], kind, flags];
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// A header that no table is needed for.
pub(crate) fn header(name: &str, value: &str) -> Vec<u8> {
    let mut bytes = vec![0];
    for text in [name, value] {
        string_length(&mut bytes, text.len());
        bytes.extend(text.as_bytes());
    }
    bytes
}

fn string_length(bytes: &mut Vec<u8>, length: usize) {
    let Some(mut rest) = length.checked_sub(127) else {
        return bytes.push(u8::try_from(length).unwrap());
    };
    bytes.push(127);
    while rest >= 128 {
        bytes.push(u8::try_from(rest % 128).unwrap() | 128);
        rest /= 128;
    }
    bytes.push(u8::try_from(rest).unwrap());
}

pub(crate) fn call_headers(path: &str) -> Vec<u8> {
    [
        header(":method", "POST"),
        header(":scheme", "http"),
        header(":authority", "server"),
        header(":path", path),
        header("te", "trailers"),
        header("content-type", "application/grpc"),
    ]
    .concat()
}

/// A message of gRPC, with the length before it.
pub(crate) fn grpc(message: &[u8]) -> Vec<u8> {
    framed(0, message)
}
