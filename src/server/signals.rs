//! SIGTERM, as orchestrators send it, and SIGINT, as Ctrl-C does.

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
