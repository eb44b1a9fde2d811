//! Three replicas, clients that stream 200,000 boards through them, and all that can happen to a replica
//! meanwhile: killed, drained, stopped, cut off, slow, alone. Every board has its answer once, in order, and it is
//! that of a single process. Once behind the real Envoy, once with clients that balance themselves.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod binary;

use std::time::Duration;

use binary::{
    envoy::Envoy,
    fleet::{Proxy, boards, serve_again},
    job::{Job, check_complete},
    served::Served,
};

const BOARDS: usize = 200_000;
const CLIENTS: usize = 4;
/// Boards that a client sends before the next thing happens.
const PART: usize = 6_250;
const PARTS: usize = BOARDS / CLIENTS / PART;

/// Each replica has an address of its own, and keeps it. Not 127.0.0.1: while it is away, a connection of anyone
/// might take its port there.
fn replicas() -> [Served; 3] {
    [2, 3, 4].map(|host| Served::at(&format!("127.0.0.{host}:0"), &["--workers", "1"]))
}

/// Clients that work at the same time, part by part.
struct Crowd<'a> {
    jobs: Vec<(Job, &'a [String])>,
    parts: usize,
}

impl<'a> Crowd<'a> {
    fn start(servers: &[&str], boards: &'a [String]) -> Crowd<'a> {
        let jobs = boards
            .chunks(BOARDS / CLIENTS)
            .map(|boards| (Job::start(servers, &[]), boards))
            .collect();
        Crowd { jobs, parts: 0 }
    }

    /// Begins the next part; when this returns, every client is in the middle of it.
    fn begin(&mut self) {
        let done = self.parts * PART;
        for (job, boards) in &self.jobs {
            job.send(&boards[done..done + PART]);
        }
        for (job, _) in &mut self.jobs {
            job.answers(done + 1);
        }
        self.parts += 1;
    }

    /// Waits for the answers to all that was sent.
    fn finish(&mut self) {
        for (job, _) in &mut self.jobs {
            job.answers(self.parts * PART);
        }
    }

    /// Holds every answer against that of a single process.
    fn end(self) {
        assert_eq!(self.parts, PARTS, "boards were left out");
        for (job, boards) in self.jobs {
            check_complete(&job.end(), boards);
        }
    }
}

/// What happens to the replicas. `seen` waits until whoever balances knows whether the replica at an address
/// is well, and `slow` is what stands before the third.
fn survive(replicas: [Served; 3], slow: &Proxy, servers: &[&str], seen: impl Fn(&str, bool)) {
    let [mut first, mut second, mut third] = replicas;
    let boards = boards(BOARDS);
    let mut crowd = Crowd::start(servers, &boards);

    crowd.begin();
    first.child.kill().unwrap();
    seen(&first.address, false);
    crowd.finish();

    // It finishes its streams, which do not last for ever, and ends well.
    crowd.begin();
    second.signal("TERM");
    seen(&second.address, false);
    crowd.finish();

    let mut first = serve_again(&first.address);
    seen(&first.address, true);
    crowd.begin();
    slow.cut();
    crowd.finish();
    assert_eq!(second.child.wait().unwrap().code(), Some(0));

    let mut second = serve_again(&second.address);
    seen(&second.address, true);
    crowd.begin();
    // It answers nothing, not even health, and its connections stay open.
    third.signal("STOP");
    seen(&slow.address, false);
    crowd.finish();
    third.signal("CONT");
    seen(&slow.address, true);
    crowd.begin();
    crowd.finish();

    // Each of those that came back does all the work alone.
    crowd.begin();
    second.child.kill().unwrap();
    third.child.kill().unwrap();
    crowd.finish();
    let second = serve_again(&second.address);
    seen(&second.address, true);
    crowd.begin();
    first.child.kill().unwrap();
    crowd.finish();
    let third = serve_again(&third.address);
    crowd.begin();
    crowd.end();
    drop((second, third));
}

#[test]
fn behind_envoy_no_board_is_lost() {
    let replicas = replicas();
    let slow = Proxy::before(&replicas[2].address, Duration::from_millis(3));
    let addresses = [&*replicas[0].address, &*replicas[1].address, &*slow.address];
    let Some(envoy) = Envoy::before("replicas", &addresses) else {
        return;
    };
    let served = envoy.address.clone();
    survive(replicas, &slow, &[&served], |replica, healthy| {
        envoy.wait_until(replica, healthy);
    });
}

#[test]
fn balanced_by_its_clients_no_board_is_lost() {
    let replicas = replicas();
    let slow = Proxy::before(&replicas[2].address, Duration::from_millis(3));
    let addresses = [&replicas[0], &replicas[1]].map(|replica| replica.address.clone());
    let servers = [&*addresses[0], &*addresses[1], &*slow.address];
    // Clients find out by themselves.
    survive(replicas, &slow, &servers, |_, _| {});
}
