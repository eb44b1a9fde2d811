//! Every bound of a job, named once. What a caller may want to move is a field of
//! [`FleetSettings`](super::FleetSettings) with the default from here.

use std::time::Duration;

/// Streams to each address. More than one, so that a proxy at that address has something to spread.
pub(super) const STREAMS: usize = 2;

/// The most streams to each address; larger settings are taken as this.
pub(super) const STREAMS_MAX: usize = 64;

/// Addresses of one name that are used; the others are left to other clients.
pub(super) const ADDRESSES_MAX: usize = 64;

/// Boards that were taken in and whose outcome was not handed out yet: sent, waiting, or answered
/// before one that comes before them.
pub(super) const BOARDS_BUFFERED: usize = 1 << 17;

/// The most boards taken in; larger settings are taken as this.
pub(super) const BOARDS_BUFFERED_MAX: usize = 1 << 20;

/// The solution limit of boards for which none is set, by the contract.
pub(super) const SOLUTION_LIMIT_UNSET: u32 = 2;

/// Solutions that the boards taken in may ask for together, and those of one stream: 81 bytes each.
pub(super) const SOLUTIONS_BUFFERED_MAX: usize = 1 << 20;
pub(super) const SOLUTIONS_IN_FLIGHT_MAX: usize = 1 << 18;

/// A text that is longer takes as many places as this goes into it.
pub(super) const BYTES_PER_PLACE: usize = 256;

/// Messages of a window, at least, so that one is solved while another travels.
pub(super) const MESSAGES_IN_FLIGHT_MIN: usize = 4;

/// How often boards are sent before they are given up. Only those count that a stream broke upon,
/// not those that waited behind them.
pub(super) const ATTEMPTS: u32 = 5;

/// How long to go on while no server takes boards.
pub(super) const RETRY_FOR: Duration = Duration::from_mins(1);

/// How long a stream may owe answers without giving any.
pub(super) const STALL: Duration = Duration::from_mins(5);

/// How long a server may take to open a stream.
pub(super) const OPEN_TIMEOUT: Duration = Duration::from_secs(10);

/// Silence of a connection before it is asked whether it is alive, and how long it may take to say
/// so. It bounds how long a machine that stopped holds a job up.
pub(in crate::client) const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
pub(in crate::client) const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(5);

/// Age at which a stream is finished and another opened, a tenth more or less by chance. A stream
/// that never ended would hold up a server that drains, and never reach one that a proxy found
/// since.
pub(super) const STREAM_AGE: Duration = Duration::from_secs(10);

/// The first wait after a failure, and the longest.
pub(super) const BACKOFF_MIN: Duration = Duration::from_millis(50);
pub(super) const BACKOFF_MAX: Duration = Duration::from_secs(5);

/// The longest wait that a server may ask for.
pub(super) const TOLD_WAIT_MAX: Duration = Duration::from_mins(1);

/// How often a name is resolved: at most after a failure, and always.
pub(super) const RESOLVE_MIN: Duration = Duration::from_secs(1);
pub(super) const RESOLVE_EVERY: Duration = Duration::from_secs(30);

/// How long a stream may take to end once every board is answered.
pub(super) const FAREWELL: Duration = Duration::from_secs(1);
