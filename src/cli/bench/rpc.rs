//! The whole path: text, client, HTTP/2, server, engine, and back.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{boards::Boards, child::ChildServer, rounds::Rounds};
use crate::client::{BatchSettings, Client, Closed};

/// The path to a server, what goes over it, and what was measured of it.
#[derive(Debug)]
pub(super) struct Path {
    client: Client,
    /// The server, if it is one of our own.
    server: Option<ChildServer>,
    boards: Arc<Boards>,
    settings: BatchSettings,
    pub(super) rounds: Rounds,
}

impl Path {
    pub(super) fn new(
        client: Client,
        server: Option<ChildServer>,
        boards: Arc<Boards>,
        settings: BatchSettings,
    ) -> Path {
        Path {
            client,
            server,
            rounds: Rounds::of(boards.boards.len()),
            boards,
            settings,
        }
    }

    /// Solves all boards once, by one call of `SolveBatch`, and notes what that took.
    pub(super) async fn round(&mut self) -> anyhow::Result<()> {
        let (begun, cpu) = (Instant::now(), self.cpu_time());
        self.pass().await?;
        let cpu = self.cpu_time().and_then(|now| now.checked_sub(cpu?));
        self.rounds.add(begun, cpu);
        Ok(())
    }

    /// CPU time that the server has had, if that is known.
    fn cpu_time(&self) -> Option<Duration> {
        self.server.as_ref().and_then(ChildServer::cpu_time)
    }

    async fn pass(&self) -> anyhow::Result<()> {
        let (mut feed, mut answers) = self.client.solve_batch(self.settings).await?;
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
}
