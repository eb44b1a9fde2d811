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
use crate::client::{ConnectSettings, Error};

/// A server, by its URL.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) url: String,
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
    pub(super) fn new(url: &str) -> Result<Site, Error> {
        // A client of it would say the same, but later.
        let endpoint = crate::client::endpoint(url, ConnectSettings::default())?;
        let (host, port) = dial::host_and_port(endpoint.uri()).ok_or_else(|| Error::NoHost {
            url: url.to_owned(),
        })?;
        Ok(Site {
            url: url.to_owned(),
            host,
            port,
        })
    }

    /// Keeps streams open to every address until the job is settled.
    pub(super) async fn serve(self, usage: Use, desk: Arc<Desk>) {
        let site = Arc::new(self);
        let trouble = Arc::new(Notify::new());
        let mut lanes = JoinSet::new();
        let mut places: HashMap<SocketAddr, (Arc<Place>, usize)> = HashMap::new();
        loop {
            match site.addresses().await {
                Ok(addresses) => {
                    for (address, (place, _)) in &places {
                        let gone = !addresses.contains(address);
                        place.gone.store(gone, Ordering::Relaxed);
                    }
                    let alone = addresses.len() == 1;
                    for address in addresses {
                        places.entry(address).or_insert_with(|| {
                            let place = Arc::new(site.place(address, alone));
                            for _ in 0..usage.streams {
                                let lane = Lane {
                                    site: Arc::clone(&site),
                                    place: Arc::clone(&place),
                                    usage,
                                    trouble: Arc::clone(&trouble),
                                };
                                lanes.spawn(lane.run(Arc::clone(&desk)));
                            }
                            (place, usage.streams)
                        });
                    }
                }
                Err(error) => {
                    desk.failed(Failure::unreached(&site.url, &error));
                    trouble.notify_one();
                }
            }
            tokio::select! {
                () = desk.settled() => break,
                Some(end) = lanes.join_next() => match end {
                    Ok(LaneEnd::Refused(failure)) => {
                        desk.refused(failure);
                        // Dropping the other lanes gives back what they hold.
                        return;
                    }
                    Ok(LaneEnd::Gone(address)) => forget(&mut places, address),
                    Ok(LaneEnd::Settled) | Err(_) => {}
                },
                // A name that just lost an address may have another soon.
                () = async { trouble.notified().await; sleep(RESOLVE_MIN).await } => {}
                () = sleep(RESOLVE_EVERY) => {}
            }
        }
        while lanes.join_next().await.is_some() {}
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

/// A lane to this address has ended; with the last one the address is forgotten, and new if the
/// name has it again.
fn forget(places: &mut HashMap<SocketAddr, (Arc<Place>, usize)>, address: SocketAddr) {
    if let Some((_, lanes)) = places.get_mut(&address) {
        *lanes -= 1;
        if *lanes == 0 {
            places.remove(&address);
        }
    }
}
