//! Clients that mean no good, against the real binary: others are served, the memory stays within its
//! bounds, and the drain does not wait for them.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a failed unwrap is a failed test; figures are there to be read"
)]

mod binary;
mod common;

use std::{fs, net::SocketAddr};

use binary::served::Served;
use common::{
    raw::{
        ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, PREFACE,
        RST_STREAM, Raw, SETTINGS, SOLVE, SOLVE_BATCH, WINDOW_UPDATE, call_headers, frame, grpc,
        header,
    },
    server::{Client, channel, message, options, request, solve_batch},
    texts::{EMPTY, UNIQUE},
};
use prost::Message as _;
use tokio::io::AsyncWriteExt as _;

/// What a server may grow by under any of this, in KiB. Its idle self has some 10 MiB.
const GROWTH_MAX_KIB: u64 = 64 << 10;

struct Victim {
    served: Served,
    address: SocketAddr,
    idle_kib: u64,
    /// Somebody who has nothing to do with it.
    other: Client,
}

impl Victim {
    async fn new() -> Victim {
        let served = Served::with(&["--workers", "2", "--grace", "1s"]);
        let address = served.address.parse().unwrap();
        let mut other = Client::new(channel(address).await);
        other.solve(request(UNIQUE, None)).await.unwrap();
        let mut victim = Victim {
            idle_kib: 0,
            served,
            address,
            other,
        };
        victim.serves().await;
        victim.idle_kib = victim.figure("VmRSS:");
        victim
    }

    fn figure(&self, name: &str) -> u64 {
        let status =
            fs::read_to_string(format!("/proc/{}/status", self.served.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        let kib = line.split_ascii_whitespace().nth(1).unwrap();
        kib.parse().unwrap()
    }

    /// Others are served, as if nothing were the matter.
    async fn serves(&mut self) {
        self.other.solve(request(UNIQUE, None)).await.unwrap();
        let boards = vec![message(&[UNIQUE; 100], None)];
        let results = solve_batch(&mut self.other, boards).await.unwrap();
        assert_eq!(results.len(), 100);
    }

    /// Served, small, and gone when told to: whatever is still connected.
    async fn assert_unharmed(self, what: &str) {
        self.grew_by(GROWTH_MAX_KIB, what).await;
    }

    async fn grew_by(mut self, kib: u64, what: &str) {
        self.serves().await;
        let (idle, peak) = (self.idle_kib, self.figure("VmHWM:"));
        eprintln!("{what}: {idle} KiB before, {peak} KiB at the peak");
        assert!(peak < idle + kib, "{idle} KiB grew to {peak} KiB");
        let ended = tokio::task::spawn_blocking(move || self.served.terminated());
        assert_eq!(ended.await.unwrap().code(), Some(0), "{what}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_never_read() {
    let mut victim = Victim::new().await;
    // Each asks for far more than the windows take: half a gigabyte in all.
    let boards = message(&[EMPTY; 16], options(Some(10_000), None)).encode_to_vec();
    let mut unread = Vec::new();
    for _ in 0..10 {
        let mut raw = Raw::connect(victim.address).await;
        for stream in [1, 3, 5, 7] {
            raw.open(stream, SOLVE_BATCH).await;
            raw.send(&frame(DATA, END_STREAM, stream, &grpc(&boards)))
                .await;
        }
        unread.push(raw);
        victim.serves().await;
    }
    // Each may hold the solutions of one job, of a reply, and of what HTTP/2 is to send.
    victim
        .grew_by(40 * (3 << 10), "40 streams that nobody reads")
        .await;
    drop(unread);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_never_send() {
    let mut victim = Victim::new().await;
    let mut silent = Vec::new();
    for number in 0..300 {
        silent.push(match number % 3 {
            0 => Raw::silent(victim.address).await,
            1 => Raw::connect(victim.address).await,
            _ => {
                let mut raw = Raw::connect(victim.address).await;
                raw.open(1, SOLVE_BATCH).await;
                raw.open(3, SOLVE).await;
                raw
            }
        });
    }
    victim.serves().await;
    victim
        .assert_unharmed("300 connections that send nothing")
        .await;
    drop(silent);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_resets_every_stream() {
    const CANCEL: [u8; 4] = 8_u32.to_be_bytes();
    let mut victim = Victim::new().await;
    let mut raw = Raw::connect(victim.address).await;
    let boards = grpc(&request(EMPTY, options(Some(10_000), None)).encode_to_vec());
    'sent: for round in 0..100_u32 {
        for call in 0..100_u32 {
            let stream = (round * 100 + call) * 2 + 1;
            let bytes = [
                frame(HEADERS, END_HEADERS, stream, &call_headers(SOLVE)),
                frame(DATA, END_STREAM, stream, &boards),
                frame(RST_STREAM, 0, stream, &CANCEL),
            ]
            .concat();
            // The server may end this connection, and no other.
            if raw.0.write_all(&bytes).await.is_err() {
                break 'sent;
            }
        }
        if round % 20 == 0 {
            victim.serves().await;
        }
    }
    victim
        .assert_unharmed("10,000 streams, each reset at once")
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_sends_byte_by_byte() {
    let mut victim = Victim::new().await;
    let mut raw = Raw::connect(victim.address).await;
    let call = [
        frame(HEADERS, END_HEADERS, 1, &call_headers(SOLVE_BATCH)),
        frame(
            DATA,
            END_STREAM,
            1,
            &grpc(&message(&[UNIQUE], None).encode_to_vec()),
        ),
    ];
    // Everybody else is served between any two bytes: whether a second passes then or not is the same.
    for byte in call.concat() {
        raw.send(&[byte]).await;
        victim.serves().await;
    }
    assert!(raw.next(DATA).await.is_some(), "slow is no fault");
    victim.assert_unharmed("a call byte by byte").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn garbage() {
    let mut victim = Victim::new().await;
    let mut state = 1_u64;
    let mut random = move || {
        // Xorshift: the same garbage in every run.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for round in 0..200 {
        let mut raw = Raw::silent(victim.address).await;
        let mut bytes = Vec::new();
        if round % 2 == 1 {
            bytes.extend(PREFACE);
            bytes.extend(frame(SETTINGS, 0, 0, &[]));
        }
        if round % 4 == 3 {
            bytes.extend(frame(HEADERS, END_HEADERS, 1, &call_headers(SOLVE_BATCH)));
        }
        for _ in 0..20 {
            let payload: Vec<u8> = (0..random() % 64)
                .map(|_| random().to_le_bytes()[0])
                .collect();
            let [kind, flags, stream, ..] = random().to_le_bytes();
            bytes.extend(frame(kind % 12, flags, u32::from(stream % 4), &payload));
        }
        // Refused bytes are as good as read ones.
        let _ = raw.0.write_all(&bytes).await;
        if round % 20 == 0 {
            victim.serves().await;
        }
    }
    victim.assert_unharmed("200 connections of garbage").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_and_messages_that_are_too_long() {
    const FRAME_SIZE_ERROR: u32 = 6;
    let victim = Victim::new().await;
    // A frame of 16 MiB, where 64 KiB are allowed: its head is enough to be refused.
    let mut raw = Raw::connect(victim.address).await;
    raw.open(1, SOLVE_BATCH).await;
    raw.send(&[0xff, 0xff, 0xff, DATA, 0, 0, 0, 0, 1]).await;
    let goaway = raw.next(GOAWAY).await.unwrap();
    assert_eq!(goaway.reason(), FRAME_SIZE_ERROR);
    raw.ended().await;
    // A message that says it has 4 GiB, one that is compressed by nothing known, one that is cut short.
    for lead in [
        &[0, 0xff, 0xff, 0xff, 0xff][..],
        &[1, 0, 0, 0, 1, 9],
        &[0, 0, 0, 0, 9, 1],
    ] {
        for path in [SOLVE, SOLVE_BATCH] {
            let mut raw = Raw::connect(victim.address).await;
            raw.open(1, path).await;
            raw.send(&frame(DATA, END_STREAM, 1, lead)).await;
            // The call ends, the connection does not.
            while !raw.next(HEADERS).await.unwrap().ends_stream() {}
            raw.open(3, SOLVE_BATCH).await;
            raw.send(&frame(DATA, END_STREAM, 3, &[])).await;
            assert_eq!(raw.next(HEADERS).await.unwrap().stream, 3);
        }
    }
    victim
        .assert_unharmed("frames and messages that are too long")
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_of_two_million_empty_boards() {
    let mut victim = Victim::new().await;
    let boards = vec![message(&vec![""; 2 << 20], None)];
    let status = solve_batch(&mut victim.other, boards).await.unwrap_err();
    assert_eq!(status.code(), tonic::Code::InvalidArgument, "{status:?}");
    assert!(
        status.message().contains("--message-boards-max"),
        "{status:?}"
    );
    victim.assert_unharmed("two million empty boards").await;
}

/// Bytes to send again and again, some with this header.
type Flood = fn(&[u8]) -> Vec<u8>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn floods() {
    let mut victim = Victim::new().await;
    let field = header("name", &"v".repeat(1000)).repeat(16);
    let floods: &[Flood] = &[
        // One list of headers without an end.
        |field| frame(CONTINUATION, 0, 1, field),
        // Lists that are too long, each of a new call.
        |field| frame(HEADERS, END_HEADERS | END_STREAM, 3, field),
        // Questions, to which nobody reads the answers.
        |_| frame(PING, 0, 0, &[7; 8]).repeat(1000),
        |_| frame(SETTINGS, 0, 0, &[]).repeat(1000),
        |_| frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]).repeat(1000),
        |_| frame(PING, ACK, 0, &[7; 8]).repeat(1000),
        // Frames of nothing.
        |_| frame(DATA, 0, 1, &[]).repeat(1000),
    ];
    for (number, flood) in floods.iter().enumerate() {
        let mut raw = Raw::connect(victim.address).await;
        let first_flags = if number == 0 { 0 } else { END_HEADERS };
        let first = frame(HEADERS, first_flags, 1, &call_headers(SOLVE_BATCH));
        raw.send(&first).await;
        let bytes = flood(&field);
        for _ in 0..1000 {
            // Until the server reads no more of it, or ends the connection.
            let sent = tokio::time::timeout(
                std::time::Duration::from_millis(500),
                raw.0.write_all(&bytes),
            );
            if !matches!(sent.await, Ok(Ok(()))) {
                break;
            }
        }
        victim.serves().await;
        eprintln!("flood {number}: {} KiB", victim.figure("VmHWM:"));
    }
    victim.assert_unharmed("floods").await;
}
