//! Connections that are too many are told so.

use std::time::Duration;

use tokio::{io::AsyncWriteExt as _, net::TcpStream, time};

use super::linger::linger;

/// How long a client may take to hear it.
const PATIENCE: Duration = Duration::from_secs(1);

/// Sends what HTTP/2 has for this: settings, as the first frame must be, and GOAWAY with the reason
/// `ENHANCE_YOUR_CALM`, which gRPC clients report as `RESOURCE_EXHAUSTED` or `UNAVAILABLE`, and a text.
pub(super) async fn turn_away(mut stream: TcpStream, connections_max: usize) {
    let text = format!(
        "{connections_max} connections are open, as many as may be (--connections-max of the server); \
         try again later"
    );
    let told = async {
        stream.write_all(&frames(text.as_bytes())).await?;
        linger(stream).await
    };
    // Whoever does not listen is no worse off for it.
    let _ = time::timeout(PATIENCE, told).await;
}

fn frames(text: &[u8]) -> Vec<u8> {
    const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    const GOAWAY: u8 = 7;
    const ENHANCE_YOUR_CALM: u32 = 0xb;
    let length = u8::try_from(8 + text.len()).unwrap_or(8);
    let text = text.get(..usize::from(length) - 8).unwrap_or_default();
    let mut frames = SETTINGS.to_vec();
    frames.extend([0, 0, length, GOAWAY, 0, 0, 0, 0, 0]);
    frames.extend(0_u32.to_be_bytes());
    frames.extend(ENHANCE_YOUR_CALM.to_be_bytes());
    frames.extend(text);
    frames
}
