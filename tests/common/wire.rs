//! One call as it is on the wire: its bytes as they are given, and what comes back as it came.

use std::net::SocketAddr;

use http_body_util::{BodyExt as _, Full};
use hyper::{Request, body::Bytes, client::conn::http2, http::HeaderMap};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tonic::Status;

/// What came back.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) headers: HeaderMap,
    /// The messages, each with the flag that says whether it is compressed.
    pub(crate) messages: Vec<(u8, Vec<u8>)>,
    pub(crate) status: Status,
}

/// Makes a call with these headers beside the usual ones, on a connection of its own.
pub(crate) async fn call(
    address: SocketAddr,
    path: &str,
    headers: &[(&'static str, &str)],
    body: Vec<u8>,
) -> Reply {
    let stream = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream)
        .await
        .unwrap();
    tokio::spawn(connection);
    let mut request = Request::post(format!("http://{address}{path}"))
        .header("te", "trailers")
        .header("content-type", "application/grpc");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::<Bytes>::from(body)).unwrap();
    let (parts, body) = sender.send_request(request).await.unwrap().into_parts();
    let body = body.collect().await.unwrap();
    let trailers = body.trailers().cloned();
    let status = trailers.as_ref().unwrap_or(&parts.headers);
    Reply {
        status: Status::from_header_map(status).unwrap(),
        messages: messages(&body.to_bytes()),
        headers: parts.headers,
    }
}

/// A message with the flag and the length before it.
pub(crate) fn framed(flag: u8, message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    [&[flag], length.as_slice(), message].concat()
}

fn messages(mut bytes: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut messages = Vec::new();
    while let [flag, a, b, c, d, rest @ ..] = bytes {
        let length = usize::try_from(u32::from_be_bytes([*a, *b, *c, *d])).unwrap();
        let (message, rest) = rest.split_at(length);
        messages.push((*flag, message.to_vec()));
        bytes = rest;
    }
    assert!(bytes.is_empty(), "a message was cut short");
    messages
}
