//! The end that a call has whether or not it is answered: its deadline, or the end of a drain.
//!
//! tonic's own timeout covers a call only up to its response headers and answers CANCELLED, and
//! nothing but a flag stops a search.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    time::{self, Instant},
};
use tonic::codegen::http::{HeaderMap, HeaderName};

use super::{
    failure::Failure,
    phase::{self, Phase},
    pool::Pool,
    queue::Queue,
};
use crate::solver::CancelFlag;

/// How long the caller will wait.
const TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");

/// When a call must be over, and what is then said of it.
#[derive(Clone, Debug)]
pub(super) struct Deadline {
    at: Instant,
    failure: Failure,
}

impl Deadline {
    /// When that is.
    pub(super) fn at(&self) -> Instant {
        self.at
    }

    /// Whether there is time left.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.at <= Instant::now() {
            Err(self.failure.clone())
        } else {
            Ok(())
        }
    }
}

/// When the call must be over, by its caller or by the server.
///
/// # Errors
///
/// The header is not a timeout.
pub(super) fn deadline(
    headers: &HeaderMap,
    max: Option<Duration>,
) -> Result<Option<Deadline>, Failure> {
    let asked = match headers.get(TIMEOUT) {
        Some(header) => Some(parse(header.as_bytes()).ok_or(Failure::Timeout)?),
        None => None,
    };
    let (timeout, failure) = match (asked, max) {
        (None, None) => return Ok(None),
        (Some(asked), None) => (asked, Failure::Deadline),
        (Some(asked), Some(max)) if asked <= max => (asked, Failure::Deadline),
        (_, Some(max)) => (max, Failure::DeadlineMax { max }),
    };
    // A timeout beyond the clock is none.
    let at = Instant::now().checked_add(timeout);
    Ok(at.map(|at| Deadline { at, failure }))
}

/// Resolves when the call must end, and says why.
pub(super) async fn end(deadline: Option<Deadline>, life: watch::Receiver<Phase>) -> Failure {
    let passed = async {
        match deadline {
            Some(deadline) => {
                time::sleep_until(deadline.at).await;
                deadline.failure
            }
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        failure = passed => failure,
        () = phase::reached(life, Phase::Stopping) => Failure::ShuttingDown,
    }
}

/// Stops the searches of a call when it goes out of scope, however that comes about.
#[derive(Debug)]
pub(super) struct Searches {
    flag: Arc<CancelFlag>,
    pool: Arc<Pool>,
    over: bool,
}

impl Searches {
    pub(super) fn new(pool: &Arc<Pool>) -> Self {
        Searches {
            flag: Arc::new(CancelFlag::new()),
            pool: Arc::clone(pool),
            over: false,
        }
    }

    /// All were answered: there is nothing to stop.
    pub(super) fn over(mut self) {
        self.over = true;
    }

    pub(super) fn flag(&self) -> &Arc<CancelFlag> {
        &self.flag
    }

    pub(super) fn queue(&self) -> &Queue {
        self.pool.queue()
    }
}

impl Drop for Searches {
    fn drop(&mut self) {
        if !self.over {
            self.flag.cancel();
            self.queue().forget_cancelled();
        }
    }
}

/// Reads a `grpc-timeout`: 1 to 8 digits and a unit.
fn parse(header: &[u8]) -> Option<Duration> {
    let (unit, digits) = header.split_last()?;
    if !(1..=8).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let amount: u64 = str::from_utf8(digits).ok()?.parse().ok()?;
    Some(match unit {
        b'H' => Duration::from_secs(amount * 3600),
        b'M' => Duration::from_secs(amount * 60),
        b'S' => Duration::from_secs(amount),
        b'm' => Duration::from_millis(amount),
        b'u' => Duration::from_micros(amount),
        b'n' => Duration::from_nanos(amount),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_unit_and_nothing_else() {
        assert_eq!(parse(b"2H"), Some(Duration::from_hours(2)));
        assert_eq!(parse(b"3M"), Some(Duration::from_mins(3)));
        assert_eq!(parse(b"12345678S"), Some(Duration::from_secs(12_345_678)));
        assert_eq!(parse(b"200m"), Some(Duration::from_millis(200)));
        assert_eq!(parse(b"7u"), Some(Duration::from_micros(7)));
        assert_eq!(parse(b"0n"), Some(Duration::ZERO));
        for bad in [
            "",
            "S",
            "123456789S",
            "-1S",
            "+1S",
            "1",
            "1s",
            "1.5S",
            " 1S",
            "1 S",
        ] {
            assert_eq!(parse(bad.as_bytes()), None, "{bad:?}");
        }
    }
}
