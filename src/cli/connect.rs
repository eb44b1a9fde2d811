//! How `solve` and `bench` connect: URLs, and flags that few will need.

use clap::{Args, value_parser};
use tonic::codegen::http::Uri;

use super::flag_range;
use crate::{client::ConnectSettings, compression::Encoding};

/// What the connection to the server is like.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "HTTP/2 of the client")]
pub(super) struct ConnectArgs {
    /// Answers of one call that may be on the way
    #[arg(
        long = "client-stream-window",
        value_name = "BYTES",
        default_value_t = ConnectSettings::default().stream_window_bytes,
        value_parser = value_parser!(u32).range(flag_range(ConnectSettings::WINDOW_BYTES))
    )]
    stream_window: u32,

    /// Answers of the connection that may be on the way
    #[arg(
        long = "client-connection-window",
        value_name = "BYTES",
        default_value_t = ConnectSettings::default().connection_window_bytes,
        value_parser = value_parser!(u32).range(flag_range(ConnectSettings::WINDOW_BYTES))
    )]
    connection_window: u32,

    /// Answers in one frame
    #[arg(
        long = "client-frame-size",
        value_name = "BYTES",
        default_value_t = ConnectSettings::default().frame_bytes,
        value_parser = value_parser!(u32).range(flag_range(ConnectSettings::FRAME_BYTES))
    )]
    frame_size: u32,

    /// Compress boards, and have the server compress the answers; it must take that
    /// (`serve --compression`) [default: uncompressed]
    #[arg(
        long,
        value_enum,
        value_name = "ENCODING",
        help_heading = "Compression of the client"
    )]
    pub(super) compression: Option<Encoding>,
}

impl From<ConnectArgs> for ConnectSettings {
    fn from(args: ConnectArgs) -> ConnectSettings {
        ConnectSettings {
            stream_window_bytes: args.stream_window,
            connection_window_bytes: args.connection_window,
            frame_bytes: args.frame_size,
            compression: args.compression,
        }
    }
}

/// The URL of a server; `host:port` alone is understood as well.
pub(super) fn server_url(text: &str) -> Result<String, String> {
    let url = if text.contains("://") {
        text.to_owned()
    } else {
        format!("http://{text}")
    };
    let Some(("http" | "https", authority)) = url.split_once("://") else {
        return Err("a server's URL begins with http:// or https://".to_owned());
    };
    if authority.is_empty() || authority.contains(char::is_whitespace) {
        return Err("a server's URL looks like http://127.0.0.1:50051".to_owned());
    }
    let uri: Uri = url
        .parse()
        .map_err(|error| format!("this is no URL: {error}"))?;
    let host_ends = uri.host().unwrap_or_default();
    let is_without_port = uri
        .authority()
        .is_some_and(|it| it.as_str().ends_with(host_ends));
    if uri.port_u16().is_none() && !is_without_port {
        return Err("a port is a number up to 65535".to_owned());
    }
    Ok(url)
}
