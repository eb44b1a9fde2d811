//! Clients of HTTP/1 that went without a word. There are no pings to ask them by, so the kernel asks.

use std::{io, time::Duration};

use rustix::net::sockopt;
use tokio::net::TcpStream;

use crate::{limits, server::ConnectionLimits};

/// Has the kernel ask a silent client whether it lives, and end the connection of one that does not say so.
pub(in crate::server) fn by_kernel(stream: &TcpStream, of: ConnectionLimits) -> io::Result<()> {
    let in_range =
        |time: Duration| time.clamp(*limits::TCP_KEEPALIVE.start(), *limits::TCP_KEEPALIVE.end());
    sockopt::set_tcp_keepidle(stream, in_range(of.keepalive_interval))?;
    sockopt::set_tcp_keepintvl(stream, in_range(of.keepalive_timeout))?;
    sockopt::set_tcp_keepcnt(stream, 1)?;
    sockopt::set_socket_keepalive(stream, true)?;
    Ok(())
}
