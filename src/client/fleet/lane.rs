//! One stream after the other to one address, on a connection of its own.

use std::{
    net::SocketAddr,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use tokio::{sync::Notify, time::sleep};

use super::{
    backoff::Backoff,
    desk::Desk,
    dial::Dial,
    site::{Place, Site, Use},
    stream::{self, End},
    unanswered::Failure,
    verdict::{self, Verdict},
};
use crate::client::Client;

/// Streams to one address, one after the other.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) site: Arc<Site>,
    pub(super) place: Arc<Place>,
    pub(super) usage: Use,
    /// Told of every failure.
    pub(super) trouble: Arc<Notify>,
}

/// Why a lane ended.
#[derive(Debug)]
pub(super) enum LaneEnd {
    /// Every outcome of the job is known.
    Settled,
    /// The name does not have this address any more.
    Gone(SocketAddr),
    /// The server takes nothing from this client.
    Refused(Failure),
}

impl Lane {
    pub(super) async fn run(self, desk: Arc<Desk>) -> LaneEnd {
        let mut backoff = Backoff::default();
        let mut connection = None;
        while !self.place.gone.load(Ordering::Relaxed) {
            let end = self.stream(&mut connection, &desk).await;
            let wait = match end {
                End::Settled => return LaneEnd::Settled,
                End::Aged => {
                    // What spreads connections and not calls can give the next one to another
                    // server only if there is one.
                    connection = None;
                    backoff.reset();
                    continue;
                }
                End::Broken {
                    failure,
                    verdict: Verdict::RefusedServer,
                    ..
                } => return LaneEnd::Refused(failure),
                End::Broken {
                    failure,
                    verdict,
                    useful,
                } => {
                    if verdict == Verdict::Again {
                        connection = None;
                    }
                    if useful {
                        backoff.reset();
                    }
                    self.broken(&desk, failure, verdict, &mut backoff)
                }
            };
            tokio::select! {
                () = sleep(wait) => {}
                () = desk.settled() => return LaneEnd::Settled,
            }
        }
        LaneEnd::Gone(self.place.address)
    }

    /// One stream, on the connection that is there or a new one, which is then there.
    async fn stream(&self, connection: &mut Option<Client>, desk: &Arc<Desk>) -> End {
        let Place { address, name, .. } = &*self.place;
        let client = if let Some(client) = connection.take() {
            client
        } else {
            let Site { url, security, .. } = &*self.site;
            let dialled = Client::dial(url, self.usage.connect, security, Dial(*address));
            let connected = tokio::select! {
                connected = dialled => connected,
                () = desk.settled() => return End::Settled,
            };
            match connected {
                Ok(client) => client,
                Err(error) => {
                    return End::Broken {
                        failure: Failure::unreached(name, &error),
                        verdict: verdict::of_connecting(&error),
                        useful: false,
                    };
                }
            }
        };
        let client = connection.insert(client);
        stream::run(client, name, desk, self.usage.terms, || self.up()).await
    }

    /// Tells what happened, and how long to stay away.
    fn broken(
        &self,
        desk: &Desk,
        failure: Failure,
        verdict: Verdict,
        backoff: &mut Backoff,
    ) -> Duration {
        let wait = match verdict {
            // As long as it said and some more, so that not all come back at once.
            Verdict::After(told) => told + backoff.next(),
            // The stream is what was wrong with it, not the server.
            Verdict::RefusedMessage => Duration::ZERO,
            Verdict::Again | Verdict::RefusedServer => {
                if !self.place.down.swap(true, Ordering::Relaxed) {
                    tracing::warn!("{failure}; trying again, its boards go elsewhere meanwhile");
                }
                backoff.next()
            }
        };
        desk.failed(failure);
        self.trouble.notify_one();
        wait
    }

    fn up(&self) {
        if self.place.down.swap(false, Ordering::Relaxed) {
            tracing::info!("{}: here again", self.place.name);
        }
    }
}
