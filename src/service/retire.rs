//! How a call has its connection ended.

use std::sync::Arc;

use tokio::sync::Notify;

/// Goes with each call of the solver, from the connection that it came by.
///
/// HTTP/2 knows how to end one call, hyper has no way to say so while the client does not read. Who
/// never does would keep the buffers of his call for ever; so his connection is told to end, the
/// calls beside his are finished, and then it is closed.
#[derive(Clone, Debug, Default)]
pub struct Retire(Arc<Notify>);

impl Retire {
    /// Asks for the end of the connection.
    pub(super) fn ask(&self) {
        self.0.notify_one();
    }

    /// Resolves when it was asked for.
    pub async fn asked(&self) {
        self.0.notified().await;
    }
}
