//! `deploy/envoy.yaml` in the real Envoy: what it does with calls and with health. `tests/replicas.rs` is about streams.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod binary;
mod common;

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::task::JoinSet;
use tonic::Code;

use binary::{
    certificates::{Authority, Folder},
    envoy::{self, Envoy},
    fleet::serve_again,
    served::Served,
};
use common::{
    server::{Batch, Client, bare_client, channel, longest, message, request},
    texts::{LONG, UNIQUE, UNIQUE_SOLUTION},
};

async fn client(envoy: &Envoy) -> Client {
    Client::new(channel(envoy.address.parse().unwrap()).await)
}

fn two_replicas() -> [Served; 2] {
    // Not 127.0.0.1: while it is away, a connection of anyone might take its port there.
    [2, 3].map(|host| Served::at(&format!("127.0.0.{host}:0"), &[]))
}

#[test]
fn the_file_is_valid_as_it_stands_and_with_tls() {
    let Some(program) = envoy::program() else {
        return;
    };
    let plain = binary::repository("deploy/envoy.yaml");
    let (valid, said) = envoy::validate(&program, &plain);
    assert!(valid, "{said}");
    assert!(!said.contains("Deprecated"), "{said}");

    let (authority, folder) = (Authority::new(), Folder::new("envoy-tls"));
    folder.write_pair(&authority.certify());
    folder.write("ca.crt", &authority.pem);
    let secured = with_tls(&envoy::template()).replace("/etc/envoy/tls/", &folder.path(""));
    let secured = binary::file("envoy-tls.yaml", secured);
    let (valid, said) = envoy::validate(&program, &secured);
    assert!(valid, "{said}");
}

/// The file with the blocks about TLS in force.
fn with_tls(template: &str) -> String {
    let mut within = false;
    let mut blocks = 0;
    let mut lines = Vec::new();
    for line in template.lines() {
        let comment = line
            .split_once("# ")
            .filter(|(indent, _)| indent.trim().is_empty());
        let begins = comment.is_some_and(|(_, text)| text.starts_with("transport_socket:"));
        blocks += usize::from(begins);
        within = comment.is_some() && (within || begins);
        lines.push(match comment {
            Some((indent, text)) if within => format!("{indent}{text}"),
            _ => line.to_owned(),
        });
    }
    assert_eq!(blocks, 2);
    lines.join("\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_a_replica_that_is_killed_are_answered_by_another() {
    const CALLS: usize = 4000;
    static BEGUN: AtomicUsize = AtomicUsize::new(0);
    let [mut first, second] = two_replicas();
    let Some(envoy) = Envoy::before("killed", &[&first.address, &second.address]) else {
        return;
    };
    let client = client(&envoy).await;
    let mut callers = JoinSet::new();
    for _ in 0..16 {
        let mut client = client.clone();
        callers.spawn(async move {
            while BEGUN.fetch_add(1, Ordering::Relaxed) < CALLS {
                let answer = client.solve(request(UNIQUE, None)).await?;
                let result = answer.into_inner().result.unwrap();
                assert_eq!(result.solutions, [UNIQUE_SOLUTION]);
            }
            Ok::<(), tonic::Status>(())
        });
    }
    while BEGUN.load(Ordering::Relaxed) < CALLS / 4 {
        tokio::task::yield_now().await;
    }
    first.child.kill().unwrap();
    assert!(
        BEGUN.load(Ordering::Relaxed) < CALLS,
        "it was killed too late"
    );
    for ended in callers.join_all().await {
        ended.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_drains_keeps_its_streams_and_gets_no_calls() {
    let [first, second] = two_replicas();
    let Some(envoy) = Envoy::before("drains", &[&first.address, &second.address]) else {
        return;
    };
    let mut client = client(&envoy).await;
    // One goes to each, as each next one goes where fewer are.
    let mut streams = Vec::new();
    for _ in 0..2 {
        let mut stream = Batch::open(&mut client).await.unwrap();
        stream.send(message(&[UNIQUE], None)).await;
        stream.results(1).await.unwrap();
        streams.push(stream);
    }
    let calls = |served: &Served| envoy.calls(&served.address);
    assert_eq!((calls(&first), calls(&second)), (1, 1));

    first.signal("TERM");
    envoy.wait_until(&first.address, false);
    for _ in 0..10 {
        client.solve(request(UNIQUE, None)).await.unwrap();
    }
    assert_eq!((calls(&first), calls(&second)), (1, 11));
    for mut stream in streams {
        stream.send(message(&[UNIQUE; 500], None)).await;
        stream.results(500).await.unwrap();
        stream.finish().await.unwrap();
    }
    let mut drained = first;
    assert_eq!(drained.child.wait().unwrap().code(), Some(0));

    let again = serve_again(&drained.address);
    envoy.wait_until(&again.address, true);
    let mut stream = Batch::open(&mut client).await.unwrap();
    let mut other = Batch::open(&mut client).await.unwrap();
    for stream in [&mut stream, &mut other] {
        stream.send(message(&[UNIQUE], None)).await;
        stream.results(1).await.unwrap();
    }
    assert_eq!(calls(&again), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_deadlines_and_request_ids_come_through() {
    let [first, second] = two_replicas();
    let Some(envoy) = Envoy::before("errors", &[&first.address, &second.address]) else {
        return;
    };
    let mut client = client(&envoy).await;
    let status = client
        .solve(request("good morning", None))
        .await
        .unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert!(!status.details().is_empty(), "{status:?}");

    // As a header only, so that it is not the client that gives up.
    let mut late = tonic::Request::new(request(LONG, longest()));
    let timeout = "300m".parse().unwrap();
    late.metadata_mut().insert("grpc-timeout", timeout);
    let mut bare = bare_client(envoy.address.parse().unwrap()).await;
    let status = bare.solve(late).await.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");

    let calls = || envoy.calls(&first.address) + envoy.calls(&second.address);
    assert_eq!(calls(), 2, "an answer is not tried again");
    let mut named = tonic::Request::new(request(UNIQUE, None));
    let name = "of-the-caller".parse().unwrap();
    named.metadata_mut().insert("x-request-id", name);
    let answer = client.solve(named).await.unwrap();
    let returned = answer.metadata().get("x-request-id").unwrap();
    assert_eq!(returned, "of-the-caller");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_no_replica_is_left_callers_are_told_at_once() {
    let [mut first, mut second] = two_replicas();
    let Some(envoy) = Envoy::before("nobody", &[&first.address, &second.address]) else {
        return;
    };
    let mut client = client(&envoy).await;
    for served in [&mut first, &mut second] {
        served.child.kill().unwrap();
        envoy.wait_until(&served.address, false);
    }
    let status = client.solve(request(UNIQUE, None)).await.unwrap_err();
    assert_eq!(status.code(), Code::Unavailable, "{status:?}");
    assert!(
        status.message().contains("no healthy upstream"),
        "{status:?}"
    );
}
