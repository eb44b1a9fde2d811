//! Which servers solve, and when `solve` gives up on them.

use std::time::Duration;

use clap::{Args, value_parser};

use crate::{
    cli::connect::{ConnectArgs, server_url},
    client::{BatchSettings, FleetSettings},
};

#[derive(Args, Debug)]
#[command(next_help_heading = "Servers")]
pub(super) struct FleetArgs {
    /// Let running servers solve; their URLs or host:port. Repeat it, or part them by commas. A name
    /// with many addresses stands for all of them
    #[arg(
        long = "server",
        value_name = "URL",
        env = "SUDOKU_SERVER",
        value_delimiter = ',',
        value_parser = server_url
    )]
    pub(super) servers: Vec<String>,

    /// Streams to each address, each on a connection of its own
    #[arg(
        long,
        value_name = "N",
        default_value_t = FleetSettings::default().streams as u64,
        value_parser = value_parser!(u64).range(1..=FleetSettings::STREAMS_MAX as u64)
    )]
    streams: u64,

    /// Give up what is unanswered after this long, such as 10m [default: never]
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    job_deadline: Option<Duration>,

    /// Give up when no server has taken boards for this long
    #[arg(
        long,
        value_name = "TIME",
        default_value_t = humantime::Duration::from(FleetSettings::default().retry_for)
    )]
    retry_for: humantime::Duration,

    /// Send a message of boards this often before giving them up
    #[arg(
        long,
        value_name = "N",
        default_value_t = FleetSettings::default().attempts,
        value_parser = value_parser!(u32).range(1..)
    )]
    attempts: u32,

    /// Break a stream off that owes answers and gives none for this long
    #[arg(
        long,
        value_name = "TIME",
        default_value_t = humantime::Duration::from(FleetSettings::default().stall)
    )]
    stall: humantime::Duration,

    #[command(flatten)]
    connect: ConnectArgs,
}

impl FleetArgs {
    /// The flag that a server within this process does not serve.
    pub(super) fn compression_flag(&self) -> Option<&'static str> {
        self.connect.compression.map(|_| "--compression")
    }

    /// The settings that the flags mean.
    pub(super) fn settings(&self, batch: BatchSettings) -> FleetSettings {
        FleetSettings {
            batch,
            connect: self.connect.into(),
            streams: usize::try_from(self.streams).unwrap_or(FleetSettings::STREAMS_MAX),
            attempts: self.attempts,
            retry_for: self.retry_for.into(),
            stall: self.stall.into(),
            deadline: self.job_deadline,
            ..FleetSettings::default()
        }
    }
}
