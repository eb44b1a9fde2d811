//! SIGTERM, as orchestrators send it, SIGINT, as Ctrl-C does, and SIGHUP, which asks for new files.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The two signals that end a server.
#[derive(Debug)]
pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// From here on the signals no longer kill the process but are waited for.
    ///
    /// # Errors
    ///
    /// The system refuses a handler.
    pub fn listen() -> io::Result<Self> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Waits for the next of them and tells its name.
    pub async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

/// The signal that has files read again.
#[derive(Debug)]
pub struct Hangups(Signal);

impl Hangups {
    /// From here on the signal no longer kills the process but is waited for.
    ///
    /// # Errors
    ///
    /// The system refuses a handler.
    pub fn listen() -> io::Result<Self> {
        Ok(Hangups(signal(SignalKind::hangup())?))
    }

    /// Waits for the next.
    pub async fn next(&mut self) {
        self.0.recv().await;
    }
}
