//! Compressed messages and the real binary: what it takes, what it gives, and what becomes of those that
//! are damaged or made to burst it.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod binary;
mod common;

use std::{
    fs,
    future::ready,
    io::{self, Read as _},
    net::SocketAddr,
};

use binary::{
    binary,
    boards::{CLASHING, EMPTY, GRID, MALFORMED, TWO, UNIQUE, UNSOLVABLE},
    run,
    served::Served,
    solve,
};
use common::{
    boards::data_path,
    raw::{SOLVE, SOLVE_BATCH},
    server::{message, request},
    wire::{Reply, call, framed},
};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use http_body_util::Full;
use hyper::{Response, server::conn::http2, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use sudoku_solver::{
    client::{BatchSettings, Client, ConnectSettings, Error},
    compression::Encoding,
    wire::pb::{SolveBatchResponse, SolveResponse, SolveResult},
};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

const HEALTH: &str = "/grpc.health.v1.Health/Check";

/// A server with these flags, and its address.
#[track_caller]
fn served(flags: &[&str]) -> (Served, SocketAddr) {
    let served = Served::with(&[&["--workers", "2"], flags].concat());
    let address = served.address.parse().unwrap();
    (served, address)
}

fn packed(encoding: Encoding, plain: impl io::Read) -> Vec<u8> {
    let mut plain = plain;
    match encoding {
        Encoding::Gzip => {
            let mut packer = GzEncoder::new(Vec::new(), Compression::default());
            io::copy(&mut plain, &mut packer).unwrap();
            packer.finish().unwrap()
        }
        Encoding::Zstd => {
            let mut packer = zstd::Encoder::new(Vec::new(), 1).unwrap();
            // The largest that decoders take unless told otherwise: 128 MiB.
            packer.window_log(27).unwrap();
            io::copy(&mut plain, &mut packer).unwrap();
            packer.finish().unwrap()
        }
    }
}

fn unpacked(encoding: &str, packed: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    match encoding {
        "gzip" => drop(GzDecoder::new(packed).read_to_end(&mut plain).unwrap()),
        "zstd" => plain = zstd::decode_all(packed).unwrap(),
        other => assert_eq!(other, "identity"),
    }
    plain
}

/// Sends one message, compressed.
async fn send_packed(
    address: SocketAddr,
    path: &str,
    encoding: Encoding,
    message: &impl Message,
) -> Reply {
    let packed = packed(encoding, message.encode_to_vec().as_slice());
    let headers = [("grpc-encoding", encoding.name())];
    call(address, path, &headers, framed(1, &packed)).await
}

/// The messages of a reply, which must be compressed by this.
#[track_caller]
fn plain(reply: &Reply, encoding: Option<&str>) -> Vec<Vec<u8>> {
    assert_eq!(reply.status.code(), Code::Ok, "{:?}", reply.status);
    let header = reply.headers.get("grpc-encoding");
    assert_eq!(header.map(|name| name.to_str().unwrap()), encoding);
    let messages = reply.messages.iter().map(|(flag, message)| {
        assert_eq!(*flag, u8::from(encoding.is_some()));
        match encoding {
            Some(encoding) => unpacked(encoding, message),
            None => message.clone(),
        }
    });
    messages.collect()
}

/// The results of a batch, without what differs from run to run.
#[track_caller]
fn results(reply: &Reply, encoding: Option<&str>) -> Vec<SolveResult> {
    let replies = plain(reply, encoding).into_iter().map(|message| {
        let reply = SolveBatchResponse::decode(message.as_slice());
        reply.unwrap().results
    });
    let untimed = |result| SolveResult {
        solve_time: None,
        ..result
    };
    replies.flatten().map(untimed).collect()
}

#[track_caller]
fn assert_refused(status: &Status, code: Code, reason: &str, texts: &[&str]) {
    assert_eq!(status.code(), code, "{status:?}");
    let info = status.get_details_error_info().unwrap();
    assert_eq!(info.reason, reason, "{status:?}");
    for text in texts {
        assert!(status.message().contains(text), "{text}: {status:?}");
    }
}

fn all_boards() -> Vec<String> {
    let easy = fs::read_to_string(data_path("easy.txt")).unwrap();
    let mixed = fs::read_to_string(data_path("mixed.txt")).unwrap();
    let lines = easy.lines().chain(mixed.lines());
    let boards = lines.filter(|line| !line.starts_with('#'));
    let statuses = [CLASHING, EMPTY, GRID, MALFORMED, TWO, UNIQUE, UNSOLVABLE];
    boards.chain(statuses).map(str::to_owned).collect()
}

#[tokio::test]
async fn a_server_refuses_by_name_what_it_was_not_told_to_take() {
    for (flag, sent, takes) in [
        ("off", "gzip", "identity"),
        ("off", "zstd", "identity"),
        ("off", "snappy", "identity"),
        ("zstd", "gzip", "zstd,identity"),
        ("gzip", "zstd", "gzip,identity"),
        ("gzip,zstd", "deflate", "gzip,zstd,identity"),
    ] {
        let flags: &[&str] = if flag == "off" {
            &[]
        } else {
            &["--compression", flag]
        };
        let (_served, address) = served(flags);
        for path in [SOLVE, SOLVE_BATCH] {
            let body = framed(1, b"whatever it is");
            let reply = call(address, path, &[("grpc-encoding", sent)], body).await;
            let texts = [sent, "--compression", flag];
            assert_refused(
                &reply.status,
                Code::Unimplemented,
                "ENCODING_NOT_TAKEN",
                &texts,
            );
            assert_eq!(reply.headers["grpc-accept-encoding"], takes);
        }
        // Not compressed at all, and said so.
        let body = framed(0, &request(UNIQUE, None).encode_to_vec());
        let identity = call(address, SOLVE, &[("grpc-encoding", "identity")], body).await;
        assert_eq!(identity.status.code(), Code::Ok);
    }
}

#[tokio::test]
async fn a_name_that_is_none_is_shown_in_part() {
    let (_served, address) = served(&[]);
    let long = "x".repeat(5000);
    let reply = call(address, SOLVE, &[("grpc-encoding", &long)], Vec::new()).await;
    assert_refused(
        &reply.status,
        Code::Unimplemented,
        "ENCODING_NOT_TAKEN",
        &["xxx"],
    );
    assert!(reply.status.message().len() < 250, "{:?}", reply.status);
}

#[tokio::test]
async fn replies_are_compressed_where_the_call_accepts_it_and_only_there() {
    for (flag, accepts, given) in [
        ("off", Some("gzip,zstd"), None),
        ("gzip", None, None),
        ("gzip", Some("identity"), None),
        ("gzip", Some("zstd"), None),
        ("gzip", Some("identity, deflate, gzip"), Some("gzip")),
        ("zstd", Some("gzip,zstd"), Some("zstd")),
        // The order of the call is the one that counts.
        ("gzip,zstd", Some("gzip,zstd"), Some("gzip")),
        ("gzip,zstd", Some("zstd,gzip"), Some("zstd")),
    ] {
        let (_served, address) = served(&["--compression", flag]);
        let accepts = accepts.map(|names| ("grpc-accept-encoding", names));
        let headers: Vec<_> = accepts.into_iter().collect();
        let body = framed(0, &request(UNIQUE, None).encode_to_vec());
        let reply = call(address, SOLVE, &headers, body).await;
        let messages = plain(&reply, given);
        let response = SolveResponse::decode(messages[0].as_slice()).unwrap();
        assert_eq!(response.result.unwrap().solutions, [GRID], "{flag}");

        let body = framed(0, &message(&[UNIQUE; 300], None).encode_to_vec());
        let reply = call(address, SOLVE_BATCH, &headers, body).await;
        assert_eq!(results(&reply, given).len(), 300, "{flag}");
    }
}

#[tokio::test]
async fn compressed_boards_get_the_answers_of_plain_ones() {
    let (_served, address) = served(&["--compression", "gzip,zstd"]);
    let boards = all_boards();
    assert!(boards.len() > 30);
    let batch = message(&boards, None);
    let body = framed(0, &batch.encode_to_vec());
    let expected = results(&call(address, SOLVE_BATCH, &[], body).await, None);
    assert_eq!(expected.len(), boards.len());
    for encoding in Encoding::EVERY {
        let reply = send_packed(address, SOLVE_BATCH, encoding, &batch).await;
        assert_eq!(results(&reply, None), expected, "{encoding:?}");
        let one = send_packed(address, SOLVE, encoding, &request(UNIQUE, None)).await;
        let one = SolveResponse::decode(plain(&one, None)[0].as_slice()).unwrap();
        assert_eq!(one.result.unwrap().solutions, [GRID]);
        // Clients that compress all calls of a channel have to be healthy too.
        let health = send_packed(address, HEALTH, encoding, &()).await;
        assert_eq!(plain(&health, None), [[8, 1]]);
    }
    // Of a call that may be compressed, each message may be or not.
    let headers = [("grpc-encoding", "gzip"), ("grpc-accept-encoding", "zstd")];
    let packed = packed(Encoding::Gzip, batch.encode_to_vec().as_slice());
    let both = [framed(0, &batch.encode_to_vec()), framed(1, &packed)].concat();
    let reply = call(address, SOLVE_BATCH, &headers, both).await;
    let twice = [expected.clone(), expected].concat();
    assert_eq!(results(&reply, Some("zstd")), twice);
}

#[tokio::test]
async fn the_limit_is_that_of_the_message_as_it_was() {
    let flags = ["--compression", "gzip,zstd", "--message-bytes-max", "1000"];
    let (_served, address) = served(&flags);
    let texts = ["1000", "--message-bytes-max"];
    let refused = |status: &Status| {
        assert_refused(status, Code::ResourceExhausted, "MESSAGE_TOO_LONG", &texts);
    };
    for encoding in Encoding::EVERY {
        for spaces in [1000 - 83 - 1, 1000 - 83] {
            let one = request(&format!("{UNIQUE}{}", " ".repeat(spaces)), None);
            let bytes = one.encoded_len();
            let reply = send_packed(address, SOLVE, encoding, &one).await;
            match bytes {
                1000 => drop(plain(&reply, None)),
                1001 => refused(&reply.status),
                other => assert_eq!(other, 1000),
            }
        }
        for spaces in [1000 - 83 - 3, 1001 - 83 - 3] {
            let batch = message(&[UNIQUE.to_owned(), " ".repeat(spaces)], None);
            let bytes = batch.encoded_len();
            let reply = send_packed(address, SOLVE_BATCH, encoding, &batch).await;
            match bytes {
                1000 => assert_eq!(results(&reply, None).len(), 2),
                1001 => refused(&reply.status),
                other => assert_eq!(other, 1000),
            }
        }
    }
}

/// What the server may grow by, in KiB: eight messages of 4 MiB, and the copies of growing buffers.
#[cfg(target_os = "linux")]
const GROWTH_MAX_KIB: u64 = 128 << 10;

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_bursts_is_read_no_further_than_a_message_may_be_long() {
    let (served, address) = served(&["--compression", "gzip,zstd"]);
    let memory = |figure: &str| -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", served.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with(figure));
        let kib = line.unwrap().split_ascii_whitespace().nth(1);
        kib.unwrap().parse().unwrap()
    };
    let idle = memory("VmRSS:");
    for (encoding, mib) in [(Encoding::Gzip, 512), (Encoding::Zstd, 2048)] {
        let bomb = packed(encoding, io::repeat(b'.').take(mib << 20));
        eprintln!("{encoding:?}: {} bytes become {mib} MiB", bomb.len());
        assert!(bomb.len() < 4 << 20, "the server would not look at it");
        let mut calls = Vec::new();
        for path in [SOLVE, SOLVE_BATCH].into_iter().cycle().take(8) {
            let body = framed(1, &bomb);
            calls.push(tokio::spawn(async move {
                call(address, path, &[("grpc-encoding", encoding.name())], body).await
            }));
        }
        for reply in calls {
            let status = reply.await.unwrap().status;
            let texts = ["4194304", "--message-bytes-max"];
            assert_refused(&status, Code::ResourceExhausted, "MESSAGE_TOO_LONG", &texts);
        }
    }
    let peak = memory("VmHWM:");
    eprintln!("{idle} KiB when idle, {peak} KiB at the peak");
    assert!(
        peak < idle + GROWTH_MAX_KIB,
        "{idle} KiB grew to {peak} KiB"
    );
}

#[tokio::test]
async fn damaged_messages_are_the_callers_fault() {
    let (_served, address) = served(&["--compression", "gzip,zstd"]);
    let batch = message(&all_boards(), None).encode_to_vec();
    for encoding in Encoding::EVERY {
        let good = packed(encoding, batch.as_slice());
        let mut turned = good.clone();
        let middle = turned.len() / 2;
        turned[middle] ^= 0x55;
        let other = Encoding::EVERY.into_iter().find(|other| *other != encoding);
        let damaged = [
            ("cut short", good[..good.len() / 2].to_vec()),
            ("a byte of it turned", turned),
            ("of the other kind", packed(other.unwrap(), &*batch)),
            ("not compressed", batch.clone()),
            ("its head alone", good[..4].to_vec()),
        ];
        for (what, bytes) in damaged {
            for path in [SOLVE, SOLVE_BATCH] {
                let headers = [("grpc-encoding", encoding.name())];
                let reply = call(address, path, &headers, framed(1, &bytes)).await;
                let what = format!("{encoding:?}, {what}: {:?}", reply.status);
                // A byte that is turned may leave it readable, as another message.
                if reply.status.message().contains("decompress") {
                    assert_refused(
                        &reply.status,
                        Code::InvalidArgument,
                        "NOT_DECOMPRESSED",
                        &["grpc-encoding"],
                    );
                } else {
                    assert!(what.contains("a byte of it turned"), "{what}");
                }
            }
        }
    }
    // A flag without a name, and a flag that is none: by the protocol these are INTERNAL.
    for flag in [1, 2] {
        let reply = call(address, SOLVE, &[], framed(flag, b"")).await;
        assert_eq!(reply.status.code(), Code::Internal, "{:?}", reply.status);
    }
    let body = framed(0, &request(UNIQUE, None).encode_to_vec());
    plain(&call(address, SOLVE, &[], body).await, None);
}

/// Counts what goes through one connection to a server: bytes there, and bytes back.
async fn counted(to: SocketAddr) -> (SocketAddr, JoinHandle<(u64, u64)>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let counts = tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.unwrap();
        let mut server = TcpStream::connect(to).await.unwrap();
        copy_bidirectional(&mut client, &mut server).await.unwrap()
    });
    (address, counts)
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_compresses_both_ways() {
    let (_served, address) = served(&["--compression", "gzip,zstd"]);
    let boards: Vec<String> = all_boards().into_iter().cycle().take(5000).collect();
    let mut plain: Option<(u64, u64, Vec<String>)> = None;
    for compression in [None, Some(Encoding::Gzip), Some(Encoding::Zstd)] {
        let (proxy, counts) = counted(address).await;
        let settings = ConnectSettings {
            compression,
            ..ConnectSettings::default()
        };
        let client = Client::connect_with(&format!("http://{proxy}"), settings).await;
        let client = client.unwrap();
        let answers = client.solve_all(boards.clone(), BatchSettings::default());
        let mut answers = answers.await.unwrap();
        let mut lines = Vec::new();
        while let Some(answer) = answers.next().await.unwrap() {
            let solutions = answer.solutions.iter().map(ToString::to_string);
            let solutions: Vec<_> = solutions.collect();
            lines.push(format!("{} {solutions:?}", answer.status.name()));
        }
        drop((client, answers));
        let (there, back) = counts.await.unwrap();
        eprintln!("{compression:?}: {there} bytes there, {back} back");
        let (all_there, all_back, expected) =
            plain.get_or_insert_with(|| (there, back, lines.clone()));
        assert_eq!(&lines, expected, "{compression:?}");
        if compression.is_some() {
            assert!(there * 2 < *all_there, "{there} bytes of {all_there}");
            assert!(back * 2 < *all_back, "{back} bytes of {all_back}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn our_client_reads_no_further_than_a_message_may_be_long() {
    for encoding in Encoding::EVERY {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let bomb = framed(1, &packed(encoding, io::repeat(0).take(64 << 20)));
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let answer = service_fn(move |_| {
                let response = Response::builder()
                    .header("content-type", "application/grpc")
                    .header("grpc-encoding", encoding.name())
                    .body(Full::<hyper::body::Bytes>::from(bomb.clone()));
                ready(response)
            });
            let server = http2::Builder::new(TokioExecutor::new());
            let _ = server.serve_connection(TokioIo::new(stream), answer).await;
        });
        let settings = ConnectSettings {
            compression: Some(encoding),
            ..ConnectSettings::default()
        };
        let client = Client::connect_with(&url, settings).await.unwrap();
        let mut answers = client
            .solve_all([UNIQUE], BatchSettings::default())
            .await
            .unwrap();
        let error = answers.next().await.unwrap_err();
        assert!(
            matches!(&error, Error::Rpc { code: Code::ResourceExhausted, message, .. }
                if message.contains("4194304")),
            "{error:?}"
        );
    }
}

#[test]
fn solve_compresses_when_told_to() {
    let (served, _) = served(&["--compression", "gzip,zstd"]);
    let boards = all_boards().join("\n");
    let expected = solve(&["--server", &served.url()], &boards);
    assert_eq!(expected.code, Some(0), "{}", expected.stderr);
    for encoding in ["gzip", "zstd"] {
        let run = solve(
            &["--server", &served.url(), "--compression", encoding],
            &boards,
        );
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert_eq!(run.stdout, expected.stdout);
    }
}

#[test]
fn solve_says_who_does_not_take_compressed_boards() {
    let (served, _) = served(&[]);
    let run = solve(
        &["--server", &served.url(), "--compression", "zstd"],
        UNIQUE,
    );
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    for text in [
        "UNANSWERED",
        "compressed by zstd",
        "--compression of the server is off",
    ] {
        assert!(run.stdout.contains(text), "{}", run.stdout);
    }
    let run = solve(&["--compression", "zstd"], UNIQUE);
    run.assert_failed(2, &["--compression needs --server"]);
}

#[test]
fn a_server_wants_names_that_it_knows() {
    for wrong in ["brotli", "gzip,", "off,gzip", ""] {
        let flag = format!("--compression={wrong}");
        let run = run(binary().args(["serve", &flag]), "");
        run.assert_failed(2, &["gzip, zstd, both apart by a comma, or off"]);
    }
}
