//! Jobs over several real servers, of which some die, drain, stop, stall or refuse: every board has
//! one answer, in order, the one that a single process gives, or is reported.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod binary;

use std::{
    convert::Infallible,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use hyper_util::rt::{TokioExecutor, TokioIo};
use tonic::{Code, Status, body::Body, codegen::http};
use tonic_types::{ErrorDetails, StatusExt as _};

use binary::{
    boards::UNIQUE,
    fleet::{Proxy, boards, nobody, serve_again},
    job::{Job, check_complete},
    served::Served,
    solve,
};

#[test]
fn replicas_that_die_drain_stop_and_come_back_lose_nothing() {
    let [mut first, mut second, third] = [(); 3].map(|()| Served::start());
    let servers = [first.url(), second.url(), third.url()];
    let servers = servers.each_ref().map(String::as_str);
    let boards = boards(120_000);
    let (parts, _) = boards.as_chunks::<30_000>();
    let mut job = Job::start(&servers, &[]);

    job.send(&parts[0]);
    job.answer();
    first.child.kill().unwrap();
    job.answers(30_000);

    // Drains: it finishes its streams, which do not last for ever, and ends well.
    job.send(&parts[1]);
    job.answers(30_001);
    second.signal("TERM");
    job.answers(60_000);

    let first = serve_again(&first.address);
    job.send(&parts[2]);
    job.answers(60_001);
    // It answers nothing, not even pings, and its connections stay open.
    third.signal("STOP");
    job.answers(90_000);
    assert_eq!(second.child.wait().unwrap().code(), Some(0));

    third.signal("CONT");
    let second = serve_again(&second.address);
    job.send(&parts[3]);
    check_complete(&job.end(), &boards);
    drop((first, second, third));
}

#[test]
fn connections_that_are_slow_and_cut_lose_nothing() {
    let [near, far] = [(); 2].map(|()| Served::start());
    let proxy = Proxy::before(&far.address, Duration::from_millis(3));
    let boards = boards(40_000);
    // In both orders of the servers: with the slow one alone it must work as well.
    for servers in [&[&*near.address, &*proxy.address][..], &[&*proxy.address]] {
        let mut job = Job::start(servers, &[]);
        for part in boards.as_chunks::<10_000>().0 {
            job.send(part);
            job.answer();
            proxy.cut();
        }
        check_complete(&job.end(), &boards);
    }
}

#[test]
fn a_name_stands_for_its_addresses() {
    // Usually 127.0.0.1 and ::1, of which one refuses.
    let served = Served::start();
    let port = served.address.rsplit_once(':').unwrap().1;
    let boards = boards(2000);
    let mut job = Job::start(&[&format!("localhost:{port}")], &["--streams", "3"]);
    job.send(&boards);
    job.answers(2000);
    check_complete(&job.end(), &boards);
}

#[test]
fn when_all_servers_are_dead_what_is_unanswered_is_told() {
    let [mut first, mut second] = [(); 2].map(|()| Served::start());
    let boards = boards(20_000);
    let mut job = Job::start(&[&first.address, &second.address], &["--retry-for", "1s"]);
    job.send(&boards[..10_000]);
    job.answers(10_000);
    first.child.kill().unwrap();
    second.child.kill().unwrap();
    job.send(&boards[10_000..10_003]);
    let run = job.end();
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 10_003, "{}", run.stderr);
    for (line, board) in lines[10_000..].iter().zip(&boards[10_000..]) {
        assert!(line.starts_with(&format!("{board} UNANSWERED ")), "{line}");
    }
    assert!(
        !lines[..10_000]
            .iter()
            .any(|line| line.contains("UNANSWERED"))
    );
    let told =
        "boards 10000 to 10002: UNANSWERED: no server took boards for 1s; the last failure, ";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    assert!(run.stderr.contains(", 3 UNANSWERED\n"), "{}", run.stderr);
}

#[test]
fn when_the_deadline_of_the_job_passes_what_is_unanswered_is_told() {
    // Takes connections, and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let args = [
        "--output",
        "jsonl",
        "--job-deadline",
        "1s",
        "--server",
        &address,
    ];
    let run = solve(&args, [UNIQUE, "no board"].join("\n"));
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    let objects: Vec<serde_json::Value> = run
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(objects.len(), 2);
    for (index, object) in objects.iter().enumerate() {
        assert_eq!(
            (&object["index"], &object["status"]),
            (&index.into(), &"UNANSWERED".into())
        );
        assert_eq!(object["error"], "the deadline of the job (1s) passed");
    }
    let told = "boards 0 to 1: UNANSWERED: the deadline of the job (1s) passed\n";
    assert!(run.stderr.contains(told), "{}", run.stderr);
}

#[test]
fn a_stream_that_gives_nothing_is_broken_off() {
    let served = Served::start();
    let boards = boards(2000);
    let args = ["--stall", "1s", "--attempts", "1", "--retry-for", "1s"];
    let mut job = Job::start(&[&served.address], &args);
    job.send(&boards[..1000]);
    job.answers(1000);
    // Sooner than by pings, which find this out as well.
    served.signal("STOP");
    job.send(&boards[1000..]);
    let run = job.end();
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    let told = "sent 1 times in vain; the last time, ";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    assert!(run.stderr.contains("nothing came for 1s"), "{}", run.stderr);
    assert_eq!(run.stdout.lines().count(), 2000);
}

#[test]
fn what_a_server_refuses_is_not_tried_again() {
    let served = Served::with(&["--solutions-max", "10"]);
    let run = solve(&["--limit", "100", "--server", &served.address], UNIQUE);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(
        run.stderr.contains("board 0: UNANSWERED: refused: "),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("(InvalidArgument)"), "{}", run.stderr);
}

#[test]
fn a_stream_that_finds_the_server_full_waits() {
    // Each address has one stream at most, and of the three of the client two are refused.
    let served = Served::with(&["--streams-max", "1"]);
    let boards = boards(20_000);
    let job = Job::start(&[&served.address], &["--streams", "3"]);
    job.send(&boards);
    let run = job.end();
    check_complete(&run, &boards);
    assert!(
        !run.stderr.contains("WARN"),
        "it is no failure: {}",
        run.stderr
    );
}

/// A server that answers every call with the same headers; how many calls came.
fn fake(
    headers: impl Fn() -> http::Response<Body> + Clone + Send + 'static,
) -> (String, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let (headers, counted) = (headers.clone(), Arc::clone(&counted));
                let answer = hyper::service::service_fn(move |_| {
                    counted.fetch_add(1, Ordering::Relaxed);
                    std::future::ready(Ok::<_, Infallible>(headers()))
                });
                tokio::spawn(
                    hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                        .serve_connection(TokioIo::new(stream), answer),
                );
            }
        });
    });
    (address, calls)
}

#[test]
fn a_proxy_that_has_nobody_behind_it_is_left_alone_for_a_while() {
    let unavailable = || {
        let response = http::Response::builder().status(503);
        response.body(Body::empty()).unwrap()
    };
    let (proxy, calls) = fake(unavailable);
    let served = Served::start();
    let boards = boards(5000);
    let mut job = Job::start(&[&proxy, &served.address], &[]);
    job.send(&boards);
    job.answers(5000);
    check_complete(&job.end(), &boards);

    let before = calls.load(Ordering::Relaxed);
    let run = solve(
        &["--server", &proxy, "--retry-for", "1s", "--streams", "1"],
        UNIQUE,
    );
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(run.stderr.contains("503"), "{}", run.stderr);
    let tries = calls.load(Ordering::Relaxed) - before;
    assert!((2..40).contains(&tries), "{tries} tries in a second or so");
}

#[test]
fn a_server_that_says_when_to_come_again_is_not_asked_before() {
    let full = || {
        let details = ErrorDetails::with_retry_info(Some(Duration::from_secs(50)));
        Status::with_error_details(Code::ResourceExhausted, "full", details).into_http()
    };
    let (address, calls) = fake(full);
    let run = solve(
        &["--server", &address, "--retry-for", "2s", "--streams", "1"],
        UNIQUE,
    );
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(
        run.stderr.contains("full (ResourceExhausted)"),
        "{}",
        run.stderr
    );
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[test]
fn servers_that_want_no_such_client_are_left_and_the_others_go_on() {
    let who = || Status::unauthenticated("who are you?").into_http();
    let (stranger, calls) = fake(who);
    let served = Served::start();
    let boards = boards(5000);
    let mut job = Job::start(&[&stranger, &served.address], &["--streams", "1"]);
    job.send(&boards);
    job.answers(5000);
    check_complete(&job.end(), &boards);
    assert_eq!(calls.load(Ordering::Relaxed), 1);

    // Far sooner than the minute that is given to servers which are away.
    let run = solve(&["--server", &stranger], UNIQUE);
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    let told = "board 0: UNANSWERED: every server refused the job; the last one, ";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    assert!(
        run.stderr.contains("who are you? (Unauthenticated)"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_server_that_comes_late_is_waited_for() {
    let address = nobody();
    let boards = boards(100);
    let mut job = Job::start(&[&address], &[]);
    job.send(&boards);
    let served = serve_again(&address);
    job.answers(100);
    check_complete(&job.end(), &boards);
    drop(served);
}
