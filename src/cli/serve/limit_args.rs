//! The bounds of a server as flags; [`limits`] has the defaults.

use std::num::NonZeroUsize;

use clap::{Args, value_parser};
use humantime::Duration;

use crate::{
    cli::flag_range,
    limits,
    server::{Config, ConnectionLimits, Http2},
    solver::Options,
};

/// What calls, streams, messages and connections may take.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Limits")]
pub struct LimitArgs {
    /// Bytes of a request message, as it was before it was compressed
    #[arg(long, env = "SUDOKU_MESSAGE_BYTES_MAX", value_name = "BYTES",
        default_value_t = limits::REQUEST_BYTES_MAX as u32, value_parser = value_parser!(u32).range(1..))]
    pub message_bytes_max: u32,

    /// Bytes of a reply of `SolveBatch` that holds more than one result
    #[arg(long, env = "SUDOKU_REPLY_BYTES_MAX", value_name = "BYTES",
        default_value_t = limits::REPLY_BYTES_MAX as u32, value_parser = value_parser!(u32).range(1..))]
    pub reply_bytes_max: u32,

    /// Boards of one message of `SolveBatch`, at most 49152
    #[arg(long, env = "SUDOKU_MESSAGE_BOARDS_MAX", value_name = "N",
        default_value_t = MESSAGE_BOARDS_MAX, value_parser = value_parser!(u32).range(1..=i64::from(MESSAGE_BOARDS_MAX)))]
    pub message_boards_max: u32,

    /// Solutions of a board that may be asked for, at most 10000
    #[arg(long, env = "SUDOKU_SOLUTIONS_MAX", value_name = "N",
        default_value_t = Options::SOLUTION_LIMIT_MAX, value_parser = value_parser!(u32).range(1..=i64::from(Options::SOLUTION_LIMIT_MAX)))]
    pub solutions_max: u32,

    /// `SolveBatch` streams that may be open at once
    #[arg(long, env = "SUDOKU_STREAMS_MAX", value_name = "N",
        default_value_t = nonzero(limits::STREAMS_MAX))]
    pub streams_max: NonZeroUsize,

    /// How long a stream may stand still because of its client, and the message of a `Solve` may take to come whole
    #[arg(long, env = "SUDOKU_STREAM_IDLE", value_name = "TIME",
        default_value_t = limits::STREAM_IDLE.into())]
    pub stream_idle: Duration,

    /// `Solve` calls that may wait for a solver thread
    #[arg(long, env = "SUDOKU_QUEUED_CALLS_MAX", value_name = "N",
        default_value_t = nonzero(limits::QUEUED_CALLS_MAX))]
    pub queued_calls_max: NonZeroUsize,

    /// Jobs of up to 256 boards of all streams that may wait for a solver thread
    #[arg(long, env = "SUDOKU_QUEUED_JOBS_MAX", value_name = "N",
        default_value_t = nonzero(limits::QUEUED_JOBS_MAX))]
    pub queued_jobs_max: NonZeroUsize,

    /// Unanswered boards that a stream may have [default: 2048 a solver thread]
    #[arg(long, env = "SUDOKU_WINDOW_BOARDS", value_name = "N")]
    pub window_boards: Option<NonZeroUsize>,

    /// How long any call may take [default: as long as its caller lets it]
    #[arg(long, env = "SUDOKU_DEADLINE_MAX", value_name = "TIME")]
    pub deadline_max: Option<Duration>,

    /// Connections that may be open
    #[arg(long, env = "SUDOKU_CONNECTIONS_MAX", value_name = "N",
        default_value_t = nonzero(limits::CONNECTIONS_MAX))]
    pub connections_max: NonZeroUsize,

    /// Calls of one connection that may be open
    #[arg(long, env = "SUDOKU_CONNECTION_CALLS_MAX", value_name = "N",
        default_value_t = limits::CONNECTION_CALLS_MAX, value_parser = value_parser!(u32).range(1..))]
    pub connection_calls_max: u32,

    /// How long a connection may be without a call
    #[arg(long, env = "SUDOKU_CONNECTION_IDLE", value_name = "TIME",
        default_value_t = limits::CONNECTION_IDLE.into())]
    pub connection_idle: Duration,

    /// How old a connection may become, a tenth more or less by chance [default: any age]
    #[arg(long, env = "SUDOKU_CONNECTION_AGE", value_name = "TIME")]
    pub connection_age: Option<Duration>,

    /// How long the calls of a connection that was told to end may take
    #[arg(long, env = "SUDOKU_CONNECTION_AGE_GRACE", value_name = "TIME",
        default_value_t = limits::CONNECTION_AGE_GRACE.into())]
    pub connection_age_grace: Duration,

    /// How long a new connection may take to begin HTTP/2
    #[arg(long, env = "SUDOKU_HANDSHAKE_TIMEOUT", value_name = "TIME",
        default_value_t = limits::HANDSHAKE_TIMEOUT.into())]
    pub handshake_timeout: Duration,

    /// How long a connection may be silent before it is asked whether it is alive
    #[arg(long, env = "SUDOKU_KEEPALIVE_INTERVAL", value_name = "TIME",
        default_value_t = limits::KEEPALIVE_INTERVAL.into())]
    pub keepalive_interval: Duration,

    /// How long it may take to say so
    #[arg(long, env = "SUDOKU_KEEPALIVE_TIMEOUT", value_name = "TIME",
        default_value_t = limits::KEEPALIVE_TIMEOUT.into())]
    pub keepalive_timeout: Duration,

    /// Bytes of the headers of a call, as HTTP/2 counts them
    #[arg(long, env = "SUDOKU_HEADER_BYTES_MAX", value_name = "BYTES",
        default_value_t = limits::HEADER_BYTES_MAX, value_parser = value_parser!(u32).range(1..=1 << 20))]
    pub header_bytes_max: u32,

    /// Bytes of requests that a call may have on the way
    #[arg(long, env = "SUDOKU_STREAM_WINDOW", value_name = "BYTES",
        default_value_t = limits::CALL_WINDOW_BYTES, value_parser = value_parser!(u32).range(flag_range(limits::HTTP2_WINDOW_BYTES)))]
    pub stream_window: u32,

    /// Bytes of requests that a connection may have on the way
    #[arg(long, env = "SUDOKU_CONNECTION_WINDOW", value_name = "BYTES",
        default_value_t = limits::CONNECTION_WINDOW_BYTES, value_parser = value_parser!(u32).range(flag_range(limits::HTTP2_WINDOW_BYTES)))]
    pub connection_window: u32,

    /// Bytes of one HTTP/2 frame of a request
    #[arg(long, env = "SUDOKU_FRAME_BYTES", value_name = "BYTES",
        default_value_t = limits::FRAME_BYTES, value_parser = value_parser!(u32).range(flag_range(limits::HTTP2_FRAME_BYTES)))]
    pub frame_bytes: u32,
}

#[expect(clippy::cast_possible_truncation, reason = "it is 49,152")]
const MESSAGE_BOARDS_MAX: u32 = limits::MESSAGE_BOARDS_MAX as u32;

fn nonzero(number: usize) -> NonZeroUsize {
    NonZeroUsize::new(number).unwrap_or(NonZeroUsize::MIN)
}

impl LimitArgs {
    /// Puts them where the server looks for them.
    pub(super) fn apply(&self, config: &mut Config) {
        config.message_bytes_max = size(self.message_bytes_max);
        config.reply_bytes_max = size(self.reply_bytes_max);
        config.message_boards_max = size(self.message_boards_max);
        config.solutions_max = self.solutions_max;
        config.streams_max = self.streams_max.get();
        config.stream_idle = self.stream_idle.into();
        config.queued_calls_max = self.queued_calls_max.get();
        config.queued_jobs_max = self.queued_jobs_max.get();
        config.window_boards = self.window_boards;
        config.deadline_max = self.deadline_max.map(Into::into);
        config.connection = ConnectionLimits {
            connections_max: self.connections_max.get(),
            calls_max: self.connection_calls_max,
            header_bytes_max: self.header_bytes_max,
            handshake_timeout: self.handshake_timeout.into(),
            idle: self.connection_idle.into(),
            age: self.connection_age.map(Into::into),
            age_grace: self.connection_age_grace.into(),
            keepalive_interval: self.keepalive_interval.into(),
            keepalive_timeout: self.keepalive_timeout.into(),
        };
        config.http2 = Http2 {
            stream_window: self.stream_window,
            connection_window: self.connection_window,
            frame_bytes: self.frame_bytes,
        };
    }
}

fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
