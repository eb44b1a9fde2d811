//! Connections that cannot be served are told why.

use std::time::Duration;

use tokio::{io::AsyncWriteExt as _, net::TcpStream, time};

use super::linger::linger;

/// How long a client may take to hear it.
const PATIENCE: Duration = Duration::from_secs(1);

/// There are as many connections as may be. gRPC clients report the reason as `RESOURCE_EXHAUSTED` or
/// `UNAVAILABLE`.
pub(super) async fn too_many(stream: TcpStream, connections_max: usize) {
    const ENHANCE_YOUR_CALM: u32 = 0xb;
    let text = format!(
        "{connections_max} connections are open, as many as may be (--connections-max of the server); \
         try again later"
    );
    turn_away(stream, ENHANCE_YOUR_CALM, &text).await;
}

/// The client speaks plain text to a port of TLS.
pub(super) async fn plain(stream: TcpStream) {
    const INADEQUATE_SECURITY: u32 = 0xc;
    let text = "this port speaks TLS only (--tls-cert of the server); connect to it by https://";
    turn_away(stream, INADEQUATE_SECURITY, text).await;
}

/// Sends what HTTP/2 has for this: settings, as the first frame must be, and GOAWAY with a reason and a
/// text.
async fn turn_away(mut stream: TcpStream, reason: u32, text: &str) {
    let frames = frames(reason, text.as_bytes());
    let told = async {
        stream.write_all(&frames).await?;
        linger(stream).await
    };
    // Whoever does not listen is no worse off for it.
    let _ = time::timeout(PATIENCE, told).await;
}

/// Closes a connection whose client has been sent why.
pub(super) async fn close(stream: TcpStream) {
    let _ = time::timeout(PATIENCE, linger(stream)).await;
}

fn frames(reason: u32, text: &[u8]) -> Vec<u8> {
    const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    const GOAWAY: u8 = 7;
    let length = u8::try_from(8 + text.len()).unwrap_or(8);
    let text = text.get(..usize::from(length) - 8).unwrap_or_default();
    let mut frames = SETTINGS.to_vec();
    frames.extend([0, 0, length, GOAWAY, 0, 0, 0, 0, 0]);
    frames.extend(0_u32.to_be_bytes());
    frames.extend(reason.to_be_bytes());
    frames.extend(text);
    frames
}
