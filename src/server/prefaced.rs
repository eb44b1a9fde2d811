//! A stream whose first bytes were read to see whether HTTP/2 begins, and are read once more by hyper.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};

/// What every HTTP/2 client says first.
const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A stream, all of it still to be read.
#[derive(Debug)]
pub(super) struct Prefaced<S> {
    first: [u8; PREFACE.len()],
    /// Which of them are still to be read.
    from: usize,
    to: usize,
    stream: S,
}

impl<S: AsyncRead + Unpin> Prefaced<S> {
    /// Waits until HTTP/2 has begun, or what came is something else: HTTP/1, where browsers are served, or
    /// what hyper refuses. hyper itself waits for a client's first bytes as long as it takes.
    pub(super) async fn new(stream: S) -> io::Result<Self> {
        let mut prefaced = Prefaced {
            first: [0; PREFACE.len()],
            from: 0,
            to: 0,
            stream,
        };
        while prefaced.to < PREFACE.len() && PREFACE.starts_with(prefaced.unread()) {
            let rest = prefaced.first.get_mut(prefaced.to..).unwrap_or_default();
            match prefaced.stream.read(rest).await? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                bytes => prefaced.to += bytes,
            }
        }
        Ok(prefaced)
    }

    /// Whether HTTP/2 has begun. Says so only before anything is read.
    pub(super) fn is_http2(&self) -> bool {
        self.unread() == PREFACE
    }

    fn unread(&self) -> &[u8] {
        self.first.get(self.from..self.to).unwrap_or_default()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Prefaced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.from == self.to {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        let bytes = buffer.remaining().min(self.to - self.from);
        buffer.put_slice(self.unread().get(..bytes).unwrap_or_default());
        self.from += bytes;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Prefaced<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
