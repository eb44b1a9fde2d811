//! A client of many servers at once, for jobs that must not lose a board when one of them dies.
//!
//! A [`Fleet`] keeps streams open to every address of every server it was given. All of them take
//! boards from one [`Feed`], each as far as its window lets, so a slow server gets fewer. When a
//! stream breaks, stalls or is refused, its unanswered boards go to whoever has room, and the
//! stream comes back after a wait that grows. Solving a board has no effects and always gives the
//! same answer, so sending it twice is safe; what comes out is one outcome a board, in the order
//! in which the boards went in.
//!
//! `docs/clients.md` says what is tried again and what is not.
//!
//! ```
//! use sudoku_solver::client::{Fleet, FleetSettings, Outcome};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let mut servers = Vec::new();
//! # for _ in 0..2 {
//! #     let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! #     servers.push(format!("http://{}", listener.local_addr()?));
//! #     let config = sudoku_solver::server::Config::default();
//! #     tokio::spawn(sudoku_solver::server::serve(listener, config, std::future::pending()));
//! # }
//! # let mut lines = Vec::new();
//! // Such as ["http://10.0.0.1:50051", "http://solvers.internal:50051"].
//! let fleet = Fleet::new(&servers, FleetSettings::default())?;
//! let board = "..............3.85..1.2.......5.7.....4...1...9.......5......73..2.1........4...9";
//! let mut outcomes = fleet.solve_all([board, "not a board"]);
//! while let Some(outcome) = outcomes.next().await {
//!     let line = match outcome {
//!         Outcome::Answered(answer) => format!("{}: {}", answer.index, answer.status.name()),
//!         Outcome::Unanswered(board) => format!("{}: no answer, {}", board.index, board.reason),
//!     };
//!     println!("{line}");
//! #   lines.push(line);
//! }
//! # assert_eq!(lines, ["0: UNIQUE", "1: MALFORMED"]);
//! # Ok(())
//! # }
//! ```

mod backoff;
mod bounds;
mod desk;
mod dial;
mod lane;
mod ledger;
mod outcomes;
mod site;
mod stream;
#[cfg(test)]
mod tests;
mod unanswered;
mod verdict;

use std::{sync::Arc, time::Duration};

use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

use self::{
    desk::Desk,
    site::{Site, Use},
    stream::Terms,
};
use super::{BatchSettings, ConnectSettings, Error, Feed, Security};

pub(super) use self::{
    bounds::{KEEPALIVE_INTERVAL, KEEPALIVE_TIMEOUT},
    desk::Desk as FleetDesk,
    dial::Dial,
};

pub use outcomes::{Outcome, Outcomes};
pub use unanswered::{Failure, Reason, Unanswered};

/// How a job is spread over servers, and when it gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FleetSettings {
    /// How far to search, and how boards are sent: in flight is what one stream may owe answers
    /// for. Boards that may have many solutions are fewer, so that memory has a bound.
    pub batch: BatchSettings,
    /// What each connection is like.
    pub connect: ConnectSettings,
    /// Streams to each address, each on a connection of its own: 1 to 64.
    pub streams: usize,
    /// Boards that may be taken in and not handed out: 1 to 1,048,576. It bounds the memory of the
    /// job, and how far fast servers may run ahead of a slow one.
    pub boards_buffered: usize,
    /// How often boards are sent, at least 1. A stream that breaks counts for the boards that it
    /// was at, not for those that waited behind them.
    pub attempts: u32,
    /// How long to go on while no server takes boards.
    pub retry_for: Duration,
    /// How long a stream may owe answers without giving one before it counts as broken. Longer than
    /// the slowest board takes; a server that stopped altogether is found out sooner, by pings.
    pub stall: Duration,
    /// How long the whole job may take; `None` for as long as it takes.
    pub deadline: Option<Duration>,
}

impl FleetSettings {
    /// The most streams to an address; larger settings are taken as this.
    pub const STREAMS_MAX: usize = bounds::STREAMS_MAX;
}

impl Default for FleetSettings {
    fn default() -> Self {
        FleetSettings {
            batch: BatchSettings::default(),
            connect: ConnectSettings::default(),
            streams: bounds::STREAMS,
            boards_buffered: bounds::BOARDS_BUFFERED,
            attempts: bounds::ATTEMPTS,
            retry_for: bounds::RETRY_FOR,
            stall: bounds::STALL,
            deadline: None,
        }
    }
}

/// Servers that solve jobs together. Nothing is connected until there is a job.
#[derive(Clone, Debug)]
pub struct Fleet {
    sites: Vec<Site>,
    settings: FleetSettings,
}

impl Fleet {
    /// A fleet of servers, by their URLs. A name that has many addresses stands for all of them; it
    /// is resolved again when one of them fails, and every half minute.
    ///
    /// # Errors
    ///
    /// A URL that is none, and a list without any.
    pub fn new<U: AsRef<str>>(urls: &[U], settings: FleetSettings) -> Result<Fleet, Error> {
        Fleet::secured(urls, settings, &Security::default())
    }

    /// The same, of servers that ask for a token or a certificate, or that the system does not trust.
    ///
    /// # Errors
    ///
    /// A URL that is none, a list without any, and a certificate that cannot be used.
    pub fn secured<U: AsRef<str>>(
        urls: &[U],
        settings: FleetSettings,
        security: &Security,
    ) -> Result<Fleet, Error> {
        let sites: Vec<Site> = urls
            .iter()
            .map(|url| Site::new(url.as_ref(), security))
            .collect::<Result<_, _>>()?;
        if sites.is_empty() {
            return Err(Error::NoServers);
        }
        Ok(Fleet { sites, settings })
    }

    /// Begins a job: boards go into the [`Feed`], what becomes of them comes out of the
    /// [`Outcomes`]. Use both at once: a full buffer holds the feed back until outcomes are read.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn solve(&self) -> (Feed, Outcomes) {
        let settings = &self.settings;
        let sizes = Sizes::of(settings);
        let desk = Desk::new(sizes.buffered, settings.attempts, self.sites.len());
        let desk = Arc::new(desk);
        let usage = Use {
            connect: settings.connect,
            streams: settings.streams.clamp(1, bounds::STREAMS_MAX),
            terms: Terms {
                window: sizes.window,
                stall: settings.stall,
            },
        };
        let mut tasks = JoinSet::new();
        for site in &self.sites {
            tasks.spawn(site.clone().serve(usage, Arc::clone(&desk)));
        }
        tasks.spawn(watch(Arc::clone(&desk), *settings));
        let options = settings.batch.options();
        let feed = Feed::of_fleet(Arc::clone(&desk), options, sizes.message);
        (feed, Outcomes::new(desk, tasks))
    }

    /// Solves every board of an iterator, which is run by the async runtime and so must not block.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn solve_all<I>(&self, boards: I) -> Outcomes
    where
        I: IntoIterator<Item: AsRef<str> + Send, IntoIter: Send + 'static>,
    {
        let (feed, outcomes) = self.solve();
        tokio::spawn(feed.feed_all(boards.into_iter()));
        outcomes
    }
}

/// Ends the job when its time is up, or when there is nobody to go on with.
async fn watch(desk: Arc<Desk>, settings: FleetSettings) {
    let begun = Instant::now();
    let deadline = async {
        match settings.deadline {
            Some(time) => {
                sleep_until(begun + time).await;
                Reason::Deadline(time)
            }
            None => std::future::pending().await,
        }
    };
    let reason = tokio::select! {
        () = desk.settled() => return,
        reason = deadline => reason,
        reason = desk.out_of_service(settings.retry_for) => reason,
    };
    desk.end(reason);
}

/// How many boards there may be where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sizes {
    buffered: usize,
    window: usize,
    message: usize,
}

impl Sizes {
    fn of(settings: &FleetSettings) -> Sizes {
        let batch = &settings.batch;
        let limit = batch.solution_limit.unwrap_or(bounds::SOLUTION_LIMIT_UNSET);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX).max(1);
        let within = |boards: usize, most: usize, solutions: usize| {
            boards.clamp(1, most).min(solutions / limit).max(1)
        };
        let buffered = within(
            settings.boards_buffered,
            bounds::BOARDS_BUFFERED_MAX,
            bounds::SOLUTIONS_BUFFERED_MAX,
        );
        let window = within(
            batch.boards_in_flight,
            buffered,
            bounds::SOLUTIONS_IN_FLIGHT_MAX,
        );
        let message = batch
            .boards_per_message
            .clamp(1, (window / bounds::MESSAGES_IN_FLIGHT_MIN).max(1));
        Sizes {
            buffered,
            window,
            message,
        }
    }
}
