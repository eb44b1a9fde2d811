//! What connections may do.

use std::time::Duration;

use crate::limits;

/// Bounds on connections. `ConnectionLimits::default()` suits most.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionLimits {
    /// Connections that may be open; more are turned away. Default: 4,096.
    pub connections_max: usize,
    /// Calls of one connection that may be open; HTTP/2 makes a client wait with more. Default: 256.
    pub calls_max: u32,
    /// Bytes of a call's headers; a call with more is refused. Default: 16 KiB.
    pub header_bytes_max: u32,
    /// How long a new connection may take to begin HTTP/2. Default: 10 s.
    pub handshake_timeout: Duration,
    /// How long a connection may be without a call. Default: 5 min.
    pub idle: Duration,
    /// How old a connection may become, a tenth more or less by chance, so that not all end at once.
    /// Default: any age.
    pub age: Option<Duration>,
    /// How long the calls of a connection that was told to end may take to finish. Default: 30 s.
    pub age_grace: Duration,
    /// How long a connection may be silent before it is asked whether it is alive. Default: 1 min.
    pub keepalive_interval: Duration,
    /// How long it may take to say so. Default: 20 s.
    pub keepalive_timeout: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        ConnectionLimits {
            connections_max: limits::CONNECTIONS_MAX,
            calls_max: limits::CONNECTION_CALLS_MAX,
            header_bytes_max: limits::HEADER_BYTES_MAX,
            handshake_timeout: limits::HANDSHAKE_TIMEOUT,
            idle: limits::CONNECTION_IDLE,
            age: None,
            age_grace: limits::CONNECTION_AGE_GRACE,
            keepalive_interval: limits::KEEPALIVE_INTERVAL,
            keepalive_timeout: limits::KEEPALIVE_TIMEOUT,
        }
    }
}
