//! A server that is restarted again and again on one port, under clients that go on.

#![expect(clippy::print_stderr, reason = "figures are there to be read")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::task::{JoinSet, block_in_place};
use tonic::{Code, Status, transport::Endpoint};

use super::{
    Figures, Load, MEMORY_SLACK_KIB, SOON, Served, common::server::Client, easy, figures, given_up,
    never_taken, worst,
};

const ARGS: &[&str] = &["--workers", "2"];

/// How long a server lives in a long soak; in a short one a tenth of the time.
const LIFE_MAX: Duration = Duration::from_secs(10);

/// What came of the rounds of all clients.
#[derive(Clone, Debug, Default)]
struct Tally {
    answered: Arc<AtomicU64>,
    interrupted: Arc<AtomicU64>,
}

impl Tally {
    fn read(&self) -> [u64; 2] {
        [&self.answered, &self.interrupted].map(|count| count.load(Ordering::Relaxed))
    }
}

/// Ends servers by SIGTERM and starts others until the time is over. Each answers, each ends well, and
/// the last needs no more than the first.
pub(super) async fn restarts(load: Load, time: Duration) {
    let mut served = block_in_place(|| Served::with(ARGS));
    let address = served.address.clone();
    let tally = Tally::default();
    let mut clients = JoinSet::new();
    clients.spawn(go_on(load.clone(), address.clone(), tally.clone(), easy));
    clients.spawn(go_on(load.clone(), address.clone(), tally.clone(), worst));
    clients.spawn(go_on(
        load.clone(),
        address.clone(),
        tally.clone(),
        given_up,
    ));
    let mut lives: Vec<Figures> = Vec::new();
    loop {
        let [before, _] = tally.read();
        tokio::time::sleep(LIFE_MAX.min(time / 10)).await;
        let is_over = || Instant::now() >= load.end;
        while tally.read()[0] == before && !is_over() {
            tokio::time::sleep(SOON).await;
        }
        lives.push(figures(&served));
        assert_eq!(block_in_place(|| served.terminated()).code(), Some(0));
        if is_over() {
            break;
        }
        served = block_in_place(|| Served::at(&address, ARGS));
    }
    while let Some(ended) = clients.join_next().await {
        ended.unwrap();
    }
    let [answered, interrupted] = tally.read();
    let (first, last) = (lives[0], lives[lives.len() - 1]);
    eprintln!(
        "{} lives of a server that was restarted, {answered} rounds answered, {interrupted} \
         interrupted; first {first:?}, last {last:?}",
        lives.len()
    );
    assert!(last.memory_kib < first.memory_kib + MEMORY_SLACK_KIB);
    assert_eq!(first.threads, last.threads);
}

/// Repeats a round of calls, also when the server has gone: there will be another.
async fn go_on<F>(load: Load, address: String, tally: Tally, round: impl Fn(Client) -> F)
where
    F: Future<Output = Result<(), Status>>,
{
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let client = Client::new(endpoint.connect_lazy());
    while load.goes_on() {
        match round(client.clone()).await {
            Ok(()) => {
                tally.answered.fetch_add(1, Ordering::Relaxed);
            }
            // Refused by a server that is about to go, not yet taken when it went, or nobody was there.
            Err(status) if status.code() == Code::Unavailable || never_taken(&status) => {
                tally.interrupted.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(SOON).await;
            }
            Err(status) => unreachable!("{status:?}"),
        }
    }
}
