//! The whole path: text, client, HTTP/2, server, engine, and back.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{boards::Boards, rounds::Rounds};
use crate::client::{BatchSettings, Client, Closed, ConnectSettings, Security};

/// What goes over the path, and how.
#[derive(Debug)]
pub(super) struct Path {
    pub(super) boards: Arc<Boards>,
    pub(super) limit: u32,
    pub(super) node_limit: u32,
    pub(super) message_boards: u32,
    pub(super) connect: ConnectSettings,
    pub(super) seconds: Duration,
}

impl Path {
    /// Repeats one `SolveBatch` of all boards over one connection. `cpu_time` reads the server's
    /// CPU clock, if it has one.
    pub(super) async fn measure(
        &self,
        url: &str,
        security: &Security,
        cpu_time: impl Fn() -> Option<Duration>,
    ) -> anyhow::Result<Rounds> {
        let client = Client::connect_secured(url, self.connect, security).await?;
        let mut walls = Vec::new();
        let cpu = cpu_time();
        let begun = Instant::now();
        let mut last = begun;
        while walls.is_empty() || last - begun < self.seconds {
            self.pass(&client).await?;
            let now = Instant::now();
            walls.push(now - last);
            last = now;
        }
        let cpu = cpu_time().and_then(|now| now.checked_sub(cpu?));
        Ok(Rounds::new(self.boards.boards.len(), walls, cpu))
    }

    async fn pass(&self, client: &Client) -> anyhow::Result<()> {
        let (mut feed, mut answers) = client.solve_batch(self.settings()).await?;
        let boards = Arc::clone(&self.boards);
        let feeding = tokio::spawn(async move {
            for board in &boards.boards {
                let text = board.to_ascii();
                if feed.push(str::from_utf8(&text).unwrap_or_default()) {
                    feed.flush().await?;
                }
            }
            feed.finish().await?;
            Ok::<(), Closed>(())
        });
        let mut answered = 0;
        while answers.next().await?.is_some() {
            answered += 1;
        }
        // Where the call ended too early, the answers have said so, and why.
        feeding.await??;
        let boards = self.boards.boards.len();
        anyhow::ensure!(answered == boards, "{answered} answers to {boards} boards");
        Ok(())
    }

    fn settings(&self) -> BatchSettings {
        let boards_per_message = usize::try_from(self.message_boards).unwrap_or(usize::MAX);
        let defaults = BatchSettings::default();
        BatchSettings {
            solution_limit: Some(self.limit),
            node_limit: Some(self.node_limit),
            boards_per_message,
            // Some messages on the way, however large they are.
            boards_in_flight: defaults
                .boards_in_flight
                .max(boards_per_message.saturating_mul(4)),
        }
    }
}
