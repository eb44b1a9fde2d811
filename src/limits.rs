//! Every bound of the service, named once. What an operator may want to move is a field of
//! [`server::Config`](crate::server::Config) with the default from here.

use std::{ops::RangeInclusive, time::Duration};

use crate::solver::Options;

/// Bytes of a message that is read, as everywhere in gRPC.
pub const REQUEST_BYTES_MAX: usize = 4 << 20;

/// A reply is sent when the next result would take it past this. Clients refuse 4 MiB.
pub const REPLY_BYTES_MAX: usize = 1 << 20;

/// Boards in one message of `SolveBatch`; 81 characters each, they come close to
/// [`REQUEST_BYTES_MAX`].
pub const MESSAGE_BOARDS_MAX: usize = 49_152;

/// Boards in one job. Enough to fill an engine's lanes and to make a hand-over cost nothing a
/// board, few enough that one message spreads over all threads.
pub const JOB_BOARDS_MAX: usize = 256;

/// Solutions that one job may ask for: boards times solution limit. It is what each stream may hold even
/// when all are open, 81 bytes each, and so no larger than what one board may ask for.
pub const JOB_SOLUTIONS_MAX: usize = 10_000;

/// Boards of one stream that are taken in and not yet answered, for each solver thread.
pub const WINDOW_BOARDS_PER_WORKER: usize = 2_048;

/// Solutions that the unanswered boards of all streams together may ask for, for each solver thread;
/// each stream has an equal share, and at least one job.
pub const WINDOW_SOLUTIONS_PER_WORKER: usize = 4 * JOB_SOLUTIONS_MAX;

/// Jobs of all streams together that wait for a solver thread; streams wait when it is reached.
pub const QUEUED_JOBS_MAX: usize = 1_024;

/// `Solve` calls that wait for a solver thread; more are refused.
pub const QUEUED_CALLS_MAX: usize = 4_096;

/// `SolveBatch` streams of all connections together that are open; more are refused.
pub const STREAMS_MAX: usize = 512;

/// When a refused call may try again.
pub const RETRY_DELAY: Duration = Duration::from_millis(100);

/// How long a stream may stand still because of its client: nothing sent, or nothing read.
pub const STREAM_IDLE: Duration = Duration::from_mins(5);

/// Connections that are open; more are turned away.
pub const CONNECTIONS_MAX: usize = 4_096;

/// Connections that are being told that they are too many; more are closed without a word.
pub const TURNED_AWAY_MAX: usize = 64;

/// Calls of one connection that are open.
pub const CONNECTION_CALLS_MAX: u32 = 256;

/// Bytes of a call's headers, as HTTP/2 counts them: name, value and 32 for each.
pub const HEADER_BYTES_MAX: u32 = 16 << 10;

/// How many more are read, so that their sender can be told; who sends still more gets HTTP's 431.
pub const HEADER_BYTES_SLACK: u32 = 16 << 10;

/// How long a browser may take for granted that the pages of an origin may call; Chromium takes it so for
/// no longer.
pub const PREFLIGHT_AGE: Duration = Duration::from_hours(2);

/// Bytes of a file with certificates, a key, tokens or settings.
pub const SETTINGS_FILE_BYTES_MAX: u64 = 1 << 20;

/// Tokens of a server; each call's is compared with all of them.
pub const TOKENS_MAX: usize = 256;

/// How often files with certificates and tokens are looked at.
pub const RELOAD_INTERVAL: Duration = Duration::from_secs(10);

/// The shortest time between two looks, whatever was asked for.
pub const RELOAD_INTERVAL_MIN: Duration = Duration::from_millis(10);

/// How long a new connection may take to begin TLS, if it does, and HTTP/2.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a connection may be without a call.
pub const CONNECTION_IDLE: Duration = Duration::from_mins(5);

/// How long the calls of a connection that was told to end may take to finish.
pub const CONNECTION_AGE_GRACE: Duration = Duration::from_secs(30);

/// Streams that a client has reset and the server not yet seen. hyper's 20 would end the
/// connection of a client that cancels a few dozen calls at once.
pub const PENDING_RESETS_MAX: usize = 4_096;

/// What HTTP/2 lets a window be. It knows smaller ones, but has every connection begin with this; they
/// would only slow it down.
pub const HTTP2_WINDOW_BYTES: RangeInclusive<u32> = 65_535..=(1 << 31) - 1;

/// What HTTP/2 lets a frame be.
pub const HTTP2_FRAME_BYTES: RangeInclusive<u32> = 1 << 14..=(1 << 24) - 1;

/// The nearest number that is in a range.
pub(crate) fn nearest(number: u32, range: &RangeInclusive<u32>) -> u32 {
    number.clamp(*range.start(), *range.end())
}

/// What each stream keeps to put frames together to messages. What is left of the last message is moved to
/// the front whenever a buffer ends, the more often the smaller it is.
pub const RECEIVE_BUFFER_BYTES: usize = 64 << 10;

/// What each `Solve` has for its request, and again for its response; longer ones have more. The common ones are of
/// some hundred bytes.
pub const SOLVE_BUFFER_BYTES: usize = 512;

/// Bytes of requests that one call may have on the way.
pub const CALL_WINDOW_BYTES: u32 = 1 << 20;

/// Bytes of requests that one connection may have on the way.
pub const CONNECTION_WINDOW_BYTES: u32 = 4 << 20;

/// Bytes of a message to health, which has a name in it and needs no token.
pub const HEALTH_BYTES_MAX: usize = 4 << 10;

/// Bytes of one frame of a request.
pub const FRAME_BYTES: u32 = 64 << 10;

/// Bytes of replies that wait for one slow client, a call.
pub const SEND_BUFFER_BYTES_MAX: usize = 512 << 10;

/// How long a connection may be silent before it is asked whether it is alive.
pub const KEEPALIVE_INTERVAL: Duration = Duration::from_mins(1);

/// How long it may take to say so.
pub const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(20);

/// The longest time that is handed to hyper: it adds times to its clock without a look, and panics past the end.
pub const TIME_MAX: Duration = Duration::from_hours(24 * 365 * 100);

/// What the kernel lets both be, where it asks instead of HTTP/2: whole seconds, of which Linux keeps 15 bits.
pub const TCP_KEEPALIVE: RangeInclusive<Duration> =
    Duration::from_secs(1)..=Duration::from_secs(32_767);

/// Scrapes of the metrics at once; more wait to be accepted.
pub const SCRAPES_MAX: usize = 8;

/// How long a scrape of the metrics may take.
pub const SCRAPE_TIME_MAX: Duration = Duration::from_secs(10);

/// Spans that wait to be sent to a collector; more are dropped.
pub const TRACES_QUEUED_MAX: usize = 4_096;

/// How long a collector may take to accept some of them.
pub const TRACES_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the end of the server waits for the last of them, if so much is left of the grace time.
pub const TRACES_LAST: Duration = Duration::from_secs(2);

/// How long a drain waits for calls.
pub const GRACE: Duration = Duration::from_secs(30);

/// How long a drain waits for connections to close once no call is left.
pub const LINGER: Duration = Duration::from_secs(1);

// One board may ask for everything that is allowed, and still be one job and one reply.
const _: () = assert!(Options::SOLUTION_LIMIT_MAX as usize <= JOB_SOLUTIONS_MAX);
const _: () = assert!(Options::SOLUTION_LIMIT_MAX as usize * 83 < REPLY_BYTES_MAX);
const _: () = assert!(MESSAGE_BOARDS_MAX * 83 < REQUEST_BYTES_MAX);
const _: () = assert!(JOB_BOARDS_MAX <= WINDOW_BOARDS_PER_WORKER);
const _: () = assert!(JOB_SOLUTIONS_MAX <= WINDOW_SOLUTIONS_PER_WORKER);
