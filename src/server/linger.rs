//! The end of a connection whose client has answers still to read.
//!
//! A socket that is closed answers whatever still comes with a reset, as it does for what was not read. A
//! client that then writes, if only that it has read a part of its answer, has an error and loses the rest.
//! So the writing side is closed first, and the other one when the client has closed its own.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf},
    sync::oneshot,
};

/// Says that nothing more will be sent, and reads to the end what nobody wants.
pub(super) async fn linger(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    stream.shutdown().await?;
    let mut unread = [0; 1024];
    while stream.read(&mut unread).await? > 0 {}
    Ok(())
}

/// A socket that comes back when it is dropped: hyper drops one as soon as its last answer is written.
#[derive(Debug)]
pub(super) struct Lent<S> {
    /// There until this is dropped.
    stream: Option<S>,
    back: Option<oneshot::Sender<S>>,
}

impl<S: Unpin> Lent<S> {
    /// A socket to lend, and where it comes back.
    pub(super) fn new(stream: S) -> (Self, oneshot::Receiver<S>) {
        let (back, returned) = oneshot::channel();
        let lent = Lent {
            stream: Some(stream),
            back: Some(back),
        };
        (lent, returned)
    }

    fn stream(&mut self) -> io::Result<Pin<&mut S>> {
        let stream = self.stream.as_mut().map(Pin::new);
        stream.ok_or_else(|| io::ErrorKind::NotConnected.into())
    }
}

impl<S> Drop for Lent<S> {
    fn drop(&mut self) {
        if let (Some(stream), Some(back)) = (self.stream.take(), self.back.take()) {
            // Nobody waits for the socket of a connection that was cut off.
            let _ = back.send(stream);
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lent<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.stream()?.poll_read(cx, buf)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Lent<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream
            .as_ref()
            .is_some_and(AsyncWrite::is_write_vectored)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write_vectored(cx, bufs)
    }
}
