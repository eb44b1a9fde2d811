//! Connections to one of the addresses that a name has, under that name.

use std::{
    future::Future,
    io,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll},
};

use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, lookup_host};
use tonic::codegen::{Service, http::Uri};

use super::bounds::ADDRESSES_MAX;

/// Connects to its address, whatever the URL says.
#[derive(Clone, Copy, Debug)]
pub(in crate::client) struct Dial(pub(super) SocketAddr);

impl Service<Uri> for Dial {
    type Response = TokioIo<TcpStream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<TokioIo<TcpStream>>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let address = self.0;
        Box::pin(async move {
            let stream = TcpStream::connect(address).await?;
            // Small messages go out at once, as tonic's own connections have it.
            stream.set_nodelay(true)?;
            Ok(TokioIo::new(stream))
        })
    }
}

/// The host and port of a URL.
pub(super) fn host_and_port(url: &Uri) -> Option<(String, u16)> {
    let host = url.host()?;
    let host = host.strip_prefix('[').unwrap_or(host);
    let host = host.strip_suffix(']').unwrap_or(host);
    let port = url.port_u16();
    let usual = if url.scheme_str() == Some("https") {
        443
    } else {
        80
    };
    Some((host.to_owned(), port.unwrap_or(usual)))
}

/// Every address that a name has now, up to a bound.
pub(super) async fn resolve(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let mut addresses: Vec<SocketAddr> = lookup_host((host, port)).await?.collect();
    addresses.sort_unstable();
    addresses.dedup();
    addresses.truncate(ADDRESSES_MAX);
    if addresses.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            "the name has no address",
        ));
    }
    Ok(addresses)
}
