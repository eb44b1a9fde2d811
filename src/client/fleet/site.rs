//! One server as it was given: its name, the addresses behind it, and the streams to each.

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::{
    sync::Notify,
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{
    bounds::{OPEN_TIMEOUT, RESOLVE_EVERY, RESOLVE_MIN},
    desk::Desk,
    dial,
    lane::{Lane, LaneEnd},
    stream::Terms,
    unanswered::Failure,
};
use crate::client::{ConnectSettings, Error, Security};

/// A server, by its URL.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) url: String,
    pub(super) security: Security,
    host: String,
    port: u16,
}

/// How to use a site.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) connect: ConnectSettings,
    pub(super) streams: usize,
    pub(super) terms: Terms,
}

/// One address of a site, shared by the streams to it.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) address: SocketAddr,
    /// In messages.
    pub(super) name: String,
    /// The name has it no more: streams that end are not followed by others.
    pub(super) gone: AtomicBool,
    /// Whether it was told that this address does not answer, so that it is told once.
    pub(super) down: AtomicBool,
}

impl Site {
    pub(super) fn new(url: &str, security: &Security) -> Result<Site, Error> {
        // A client of it would say the same, but later.
        let endpoint = crate::client::endpoint(url, ConnectSettings::default(), security)?;
        let (host, port) = dial::host_and_port(endpoint.uri()).ok_or_else(|| Error::NoHost {
            url: url.to_owned(),
        })?;
        Ok(Site {
            url: url.to_owned(),
            security: security.clone(),
            host,
            port,
        })
    }

    /// Keeps streams open to every address until the job is settled.
    pub(super) async fn serve(self, usage: Use, desk: Arc<Desk>) {
        let mut crew = Crew {
            site: Arc::new(self),
            usage,
            desk: Arc::clone(&desk),
            trouble: Arc::new(Notify::new()),
            lanes: JoinSet::new(),
            places: HashMap::new(),
        };
        let settled = desk.settled();
        tokio::pin!(settled);
        loop {
            let resolved = tokio::select! {
                resolved = crew.site.addresses() => resolved,
                () = &mut settled => break,
            };
            match resolved {
                Ok(addresses) => crew.meet(&addresses),
                Err(error) => {
                    desk.failed(Failure::unreached(&crew.site.url, &error));
                    crew.trouble.notify_one();
                }
            }
            tokio::select! {
                () = &mut settled => break,
                Some(end) = crew.lanes.join_next() => match end {
                    Ok(LaneEnd::Refused(failure)) => {
                        desk.refused(failure);
                        // Dropping the other lanes gives back what they hold.
                        return;
                    }
                    Ok(LaneEnd::Gone(address)) => crew.forget(address),
                    Ok(LaneEnd::Settled) | Err(_) => {}
                },
                // A name that just lost an address may have another soon.
                () = async { crew.trouble.notified().await; sleep(RESOLVE_MIN).await } => {}
                () = sleep(RESOLVE_EVERY) => {}
            }
        }
        while crew.lanes.join_next().await.is_some() {}
    }

    async fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        timeout(OPEN_TIMEOUT, dial::resolve(&self.host, self.port))
            .await
            .map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }

    fn place(&self, address: SocketAddr, alone: bool) -> Place {
        let url = &self.url;
        Place {
            address,
            name: if alone {
                url.clone()
            } else {
                format!("{url} at {address}")
            },
            gone: AtomicBool::new(false),
            down: AtomicBool::new(false),
        }
    }
}

/// The streams to a site, and the addresses that they go to.
struct Crew {
    site: Arc<Site>,
    usage: Use,
    desk: Arc<Desk>,
    /// Told of every failure.
    trouble: Arc<Notify>,
    lanes: JoinSet<LaneEnd>,
    /// With how many lanes each has.
    places: HashMap<SocketAddr, (Arc<Place>, usize)>,
}

impl Crew {
    /// These are the addresses of the name now.
    fn meet(&mut self, addresses: &[SocketAddr]) {
        for (address, (place, _)) in &self.places {
            let gone = !addresses.contains(address);
            place.gone.store(gone, Ordering::Relaxed);
        }
        for &address in addresses {
            if self.places.contains_key(&address) {
                continue;
            }
            let place = Arc::new(self.site.place(address, addresses.len() == 1));
            for _ in 0..self.usage.streams {
                let lane = Lane {
                    site: Arc::clone(&self.site),
                    place: Arc::clone(&place),
                    usage: self.usage,
                    trouble: Arc::clone(&self.trouble),
                };
                self.lanes.spawn(lane.run(Arc::clone(&self.desk)));
            }
            self.places.insert(address, (place, self.usage.streams));
        }
    }

    /// A lane to this address has ended; with the last one the address is forgotten, and new if
    /// the name has it again.
    fn forget(&mut self, address: SocketAddr) {
        if let Some((_, lanes)) = self.places.get_mut(&address) {
            *lanes -= 1;
            if *lanes == 0 {
                self.places.remove(&address);
            }
        }
    }
}
