//! Clients of HTTP/1 that went without a word. There are no pings to ask them by, so the kernel asks.

use std::{io, time::Duration};

use rustix::net::sockopt;
use tokio::net::TcpStream;

use crate::{limits, server::ConnectionLimits};

/// Has the kernel ask a silent client whether it lives, and end the connection of one that does not say so, or
/// that takes nothing of what is sent to it: while something is on its way the kernel does not ask.
pub(in crate::server) fn by_kernel(stream: &TcpStream, of: ConnectionLimits) -> io::Result<()> {
    let in_range =
        |time: Duration| time.clamp(*limits::TCP_KEEPALIVE.start(), *limits::TCP_KEEPALIVE.end());
    let (interval, timeout) = (
        in_range(of.keepalive_interval),
        in_range(of.keepalive_timeout),
    );
    sockopt::set_tcp_keepidle(stream, interval)?;
    sockopt::set_tcp_keepintvl(stream, timeout)?;
    sockopt::set_tcp_keepcnt(stream, 1)?;
    sockopt::set_socket_keepalive(stream, true)?;
    let millis = (interval + timeout).as_millis();
    sockopt::set_tcp_user_timeout(stream, u32::try_from(millis).unwrap_or(u32::MAX))?;
    Ok(())
}
