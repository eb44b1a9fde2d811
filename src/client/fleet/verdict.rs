//! What the end of a call means for its boards: the only place that reads a status code.

use std::{error::Error, io, time::Duration};

use tokio_rustls::rustls;
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use super::bounds::TOLD_WAIT_MAX;

/// What to do after a call has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Send its boards again, here or elsewhere.
    Again,
    /// The same, but not here for this long, as the server asked.
    After(Duration),
    /// The message is wrong, and would be everywhere.
    RefusedMessage,
    /// This server will take nothing from this client.
    RefusedServer,
}

/// Solving has no effects, so whatever may be different next time may be tried again. `sent` says
/// whether the call had boards: one that is refused without any is wrong itself.
pub(super) fn of(status: &Status, sent: bool) -> Verdict {
    if fails_in_tls(status) {
        return Verdict::RefusedServer;
    }
    match status.code() {
        Code::InvalidArgument if sent => Verdict::RefusedMessage,
        Code::InvalidArgument
        | Code::Unauthenticated
        | Code::PermissionDenied
        | Code::Unimplemented
        | Code::NotFound
        | Code::FailedPrecondition => Verdict::RefusedServer,
        // Without a time it may be a limit of some proxy's as well as a message that is too long:
        // the attempts bound it.
        _ => match status
            .get_details_retry_info()
            .and_then(|info| info.retry_delay)
        {
            Some(delay) => Verdict::After(delay.min(TOLD_WAIT_MAX)),
            None => Verdict::Again,
        },
    }
}

/// What to do after a connection did not come about.
pub(super) fn of_connecting(error: &(dyn Error + 'static)) -> Verdict {
    if fails_in_tls(error) {
        Verdict::RefusedServer
    } else {
        Verdict::Again
    }
}

/// Certificates do not get better by waiting.
fn fails_in_tls(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        // An io::Error shows the source of what it holds, not that itself.
        let held = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        if error.is::<rustls::Error>()
            || held.is_some_and(<dyn Error + Send + Sync>::is::<rustls::Error>)
        {
            return true;
        }
        next = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use tonic_types::ErrorDetails;

    use super::*;

    #[test]
    fn a_wait_is_taken_from_the_details_and_bounded() {
        let told = |delay| {
            let details = ErrorDetails::with_retry_info(Some(delay));
            let status = Status::with_error_details(Code::ResourceExhausted, "full", details);
            of(&status, true)
        };
        let short = Duration::from_millis(700);
        assert_eq!(told(short), Verdict::After(short));
        assert_eq!(told(Duration::from_hours(9)), Verdict::After(TOLD_WAIT_MAX));
    }

    #[test]
    fn what_may_be_different_next_time_is_tried_again() {
        for (code, verdict) in [
            (Code::ResourceExhausted, Verdict::Again),
            (Code::Unavailable, Verdict::Again),
            (Code::Internal, Verdict::Again),
            (Code::DeadlineExceeded, Verdict::Again),
            (Code::Unauthenticated, Verdict::RefusedServer),
            (Code::InvalidArgument, Verdict::RefusedMessage),
        ] {
            assert_eq!(of(&Status::new(code, "no"), true), verdict, "{code:?}");
        }
        let refused = Status::invalid_argument("no");
        assert_eq!(of(&refused, false), Verdict::RefusedServer);
    }
}
