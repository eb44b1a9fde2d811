//! The command line as people and scripts meet it: text in, text and exit codes out.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod binary;

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, ChildStdin, ChildStdout},
    thread,
};

use serde_json::{Value, json};

use binary::{
    binary,
    boards::{CLASHING, EMPTY, GRID, MALFORMED, TWO, UNIQUE, UNSOLVABLE},
    file,
    fleet::nobody,
    gzip, piped, run,
    served::Served,
    solve,
};

#[track_caller]
fn check_lines(args: &[&str], stdin: &str, expected: &[&str]) {
    let run = solve(args, stdin);
    assert_eq!(
        run.stdout.lines().collect::<Vec<_>>(),
        expected,
        "{}",
        run.stderr
    );
    assert_eq!(run.code, Some(0));
    assert!(run.stdout.is_empty() || run.stdout.ends_with('\n'));
}

/// The objects of a run, their solve times taken out after a look at them.
#[track_caller]
fn jsonl(args: &[&str], stdin: &str) -> Vec<Value> {
    let run = solve(&[args, &["--output", "jsonl"]].concat(), stdin);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let untimed = |line: &str| {
        let mut object: Value = serde_json::from_str(line).unwrap();
        let nanos = object
            .as_object_mut()
            .unwrap()
            .remove("solve_time_nanos")
            .unwrap();
        assert!(nanos.is_u64(), "{line}");
        object
    };
    run.stdout.lines().map(untimed).collect()
}

#[test]
fn every_status_as_a_line() {
    let no = |status: &str| format!("{EMPTY} {status}");
    check_lines(&[], UNIQUE, &[GRID]);
    check_lines(&[], TWO, &[&format!("{TWO} MULTIPLE at least 2 solutions")]);
    check_lines(
        &["--limit", "3"],
        TWO,
        &[&format!("{TWO} MULTIPLE 2 solutions")],
    );
    check_lines(
        &[],
        UNSOLVABLE,
        &[&format!("{UNSOLVABLE} UNSOLVABLE no solution")],
    );
    check_lines(
        &["--limit", "1"],
        UNIQUE,
        &[&format!("{UNIQUE} SOLVED {GRID}")],
    );
    check_lines(
        &["--node-limit", "1"],
        EMPTY,
        &[&no("UNDECIDED node limit reached, 0 solutions so far")],
    );
    check_lines(
        &[],
        CLASHING,
        &[&format!(
            "{CLASHING} CLASHING_GIVENS row 1 has two 5s (r1c1, r1c2); box 1 has two 5s (r1c1, r1c2)"
        )],
    );
    let run = solve(&[], MALFORMED);
    assert!(
        run.stdout.starts_with("good morning MALFORMED "),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.len() > "good morning MALFORMED \n".len(),
        "it says why"
    );
    assert_eq!(run.code, Some(0));
}

#[test]
fn every_status_as_an_object() {
    let boards = [UNIQUE, TWO, UNSOLVABLE, CLASHING, MALFORMED].join("\n");
    let objects = jsonl(&[], &boards);
    let clash = |unit| json!({"unit": unit, "unit_number": 1, "digit": 5, "cells": [0, 1]});
    let expected = [
        json!({"index": 0, "status": "UNIQUE", "solutions": [GRID], "solution_count": 1}),
        json!({"index": 1, "status": "MULTIPLE", "solutions": objects[1]["solutions"],
            "solution_count": 2}),
        json!({"index": 2, "status": "UNSOLVABLE", "solutions": [], "solution_count": 0}),
        json!({"index": 3, "status": "CLASHING_GIVENS", "solutions": [], "solution_count": 0,
            "clashes": [clash("ROW"), clash("BOX")]}),
        json!({"index": 4, "status": "MALFORMED", "solutions": [], "solution_count": 0,
            "error": objects[4]["error"]}),
    ];
    assert_eq!(objects, expected);
    let witnesses = objects[1]["solutions"].as_array().unwrap();
    assert_eq!(witnesses.len(), 2, "both are given");
    assert_ne!(witnesses[0], witnesses[1]);
    assert!(witnesses.contains(&json!(GRID)));
    assert!(!objects[4]["error"].as_str().unwrap().is_empty());

    assert_eq!(
        jsonl(&["--limit", "1"], UNIQUE),
        [json!({"index": 0, "status": "SOLVED", "solutions": [GRID], "solution_count": 1})]
    );
    assert_eq!(
        jsonl(&["--node-limit", "1"], EMPTY),
        [json!({"index": 0, "status": "UNDECIDED", "solutions": [], "solution_count": 0})]
    );
}

#[test]
fn an_object_has_its_fields_in_the_order_of_the_documentation() {
    let run = solve(&["--output", "jsonl"], UNIQUE);
    let line = run.stdout.trim_end();
    let (front, nanos) = line.rsplit_once(':').unwrap();
    assert_eq!(
        front,
        format!(
            r#"{{"index":0,"status":"UNIQUE","solutions":["{GRID}"],"solution_count":1,"solve_time_nanos""#
        )
    );
    assert!(
        nanos.strip_suffix('}').unwrap().parse::<u64>().unwrap() > 0,
        "{line}"
    );
}

#[test]
fn bad_boards_among_good_ones_get_their_answers_in_order() {
    let boards = [UNIQUE, MALFORMED, TWO, CLASHING, "12345", UNIQUE];
    let many: Vec<&str> = boards.iter().copied().cycle().take(3000).collect();
    let objects = jsonl(&[], &many.join("\n"));
    let statuses = [
        "UNIQUE",
        "MALFORMED",
        "MULTIPLE",
        "CLASHING_GIVENS",
        "MALFORMED",
        "UNIQUE",
    ];
    assert_eq!(objects.len(), many.len());
    for (index, (object, status)) in objects.iter().zip(statuses.iter().cycle()).enumerate() {
        assert_eq!(object["index"], index);
        assert_eq!(object["status"], *status, "board {index}");
    }
}

#[test]
fn files_follow_each_other_compressed_or_not() {
    let plain = file("follow-1.txt", format!("{UNIQUE}\n{TWO}\n"));
    let packed = file("follow-2.gz", gzip(&format!("{UNSOLVABLE}\n")));
    // Two gzip members in one file, as `cat a.gz b.gz` makes them, under a name that says nothing.
    let twice = [gzip(&format!("{UNIQUE}\n")), gzip(&format!("{CLASHING}\n"))].concat();
    let twice = file("follow-3.txt", twice);
    let [plain, packed, twice] = [&plain, &packed, &twice].map(|path| path.to_str().unwrap());
    let objects = jsonl(&[plain, "-", packed, twice], &format!("{UNIQUE}\n"));
    let got: Vec<_> = objects
        .iter()
        .map(|object| object["status"].as_str().unwrap())
        .collect();
    assert_eq!(
        got,
        [
            "UNIQUE",
            "MULTIPLE",
            "UNIQUE",
            "UNSOLVABLE",
            "UNIQUE",
            "CLASHING_GIVENS"
        ]
    );
    assert!(
        objects
            .iter()
            .enumerate()
            .all(|(index, object)| object["index"] == index)
    );

    let run = run(binary().args(["solve", "-"]), gzip(UNIQUE));
    assert_eq!(
        run.stdout,
        format!("{GRID}\n"),
        "standard input may be compressed as well"
    );
}

#[test]
fn a_board_of_nine_lines_has_one_answer_on_one_line() {
    let nine_lines = |board: &str| -> String {
        let rows: Vec<&str> = (0..9).map(|row| &board[9 * row..9 * row + 9]).collect();
        rows.join("\n") + "\n"
    };
    let boards = format!("{}\n{}", nine_lines(UNIQUE), nine_lines(TWO));
    check_lines(
        &[],
        &boards,
        &[GRID, &format!("{TWO} MULTIPLE at least 2 solutions")],
    );
}

#[test]
fn nothing_in_nothing_out() {
    for nothing in ["", "\n\n", "# only a comment\n"] {
        let run = solve(&[], nothing);
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), ""));
        assert!(run.stderr.starts_with("0 boards in "), "{}", run.stderr);
    }
}

#[test]
fn the_limit_says_how_many_solutions() {
    for limit in [2, 17, 10_000] {
        let objects = jsonl(&["--limit", &limit.to_string()], EMPTY);
        let mut solutions: Vec<_> = objects[0]["solutions"].as_array().unwrap().clone();
        assert_eq!(objects[0]["solution_count"], limit);
        solutions.sort_by_key(ToString::to_string);
        solutions.dedup();
        assert_eq!(solutions.len(), limit, "no solution is given twice");
    }
}

#[test]
fn the_summary_counts_by_status() {
    let run = solve(&[], [UNIQUE, TWO, UNIQUE, MALFORMED].join("\n"));
    assert!(run.stderr.starts_with("4 boards in "), "{}", run.stderr);
    assert!(
        run.stderr
            .ends_with(" boards a second: 2 UNIQUE, 1 MULTIPLE, 1 MALFORMED\n"),
        "{}",
        run.stderr
    );
    assert_eq!(
        run.stderr.lines().count(),
        1,
        "no bar where there is no terminal"
    );
}

#[test]
fn wrong_usage_exits_with_2() {
    for args in [
        &["solve", "--no-such-flag"][..],
        &["solve", "--limit", "0"],
        &["solve", "--limit", "10001"],
        &["solve", "--limit", "two"],
        &["solve", "--node-limit", "0"],
        &["solve", "--output", "xml"],
        &["solve", "--server", "ftp://127.0.0.1:50051"],
        &["solve", "--server", "http://"],
        &["solve", "--server", "127.0.0.1:1,http://"],
        &["solve", "--streams", "0"],
        &["solve", "--streams", "65"],
        &["solve", "--job-deadline", "soon"],
        &["solve", "--resume"],
        &["serve", "--frame-bytes", "16383"],
        &["serve", "--stream-window", "65534"],
        &["serve", "--connection-window", "2147483648"],
        &["sovle"],
        &[],
    ] {
        let run = run(binary().args(args), "");
        assert_eq!(
            (run.code, run.stdout.as_str()),
            (Some(2), ""),
            "{args:?}: {}",
            run.stderr
        );
        assert!(!run.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn help_and_version_are_answers() {
    for (args, expected) in [
        (&["--help"][..], "Examples:"),
        (&["solve", "--help"], "Exit status:"),
        (&["serve", "--help"], "--listen"),
        (&["--version"], env!("CARGO_PKG_VERSION")),
    ] {
        let run = run(binary().args(args), "");
        assert_eq!(run.code, Some(0), "{args:?}");
        assert!(run.stdout.contains(expected), "{args:?}: {}", run.stdout);
    }
}

#[test]
fn a_file_that_is_not_there_exits_with_1_before_anything_is_solved() {
    let there = file("there.txt", UNIQUE);
    let run = solve(&[there.to_str().unwrap(), "no/such/file.txt"], "");
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
    assert!(
        run.stderr
            .starts_with("error: cannot read no/such/file.txt: "),
        "{}",
        run.stderr
    );
}

#[test]
fn a_file_that_breaks_off_exits_with_1_after_the_answers_before_the_break() {
    let whole = gzip(&format!("{UNIQUE}\n").repeat(2000));
    let broken = file("broken.gz", &whole[..whole.len() - 8]);
    let run = solve(&[broken.to_str().unwrap()], "");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains("cannot read ") && run.stderr.contains("broken.gz"));
    assert!(
        run.stdout.lines().count() > 1000,
        "what could be read was solved"
    );
    assert!(run.stdout.lines().all(|line| line == GRID));
}

#[test]
fn a_server_that_is_not_there_exits_with_3() {
    let url = format!("http://{}", nobody());
    let run = solve(&["--retry-for", "1s", "--server", &url], UNIQUE);
    assert_eq!(run.code, Some(3));
    assert!(
        run.stdout.starts_with(&format!("{UNIQUE} UNANSWERED ")),
        "{}",
        run.stdout
    );
    for part in ["board 0: UNANSWERED: ", &url, "Connection refused"] {
        assert!(run.stderr.contains(part), "{part} is not in {}", run.stderr);
    }
}

#[test]
fn a_served_process_answers_the_same() {
    let served = Served::start();
    let boards = [UNIQUE, TWO, UNSOLVABLE, CLASHING, MALFORMED].join("\n");
    let local = jsonl(&["--limit", "5"], &boards);
    for server in [served.url(), served.address.clone()] {
        assert_eq!(
            jsonl(&["--limit", "5", "--server", &server], &boards),
            local
        );
    }
}

#[test]
fn the_sizes_of_http2_are_told_to_clients() {
    let served = Served::with(&[
        "--stream-window=70000",
        "--connection-window=1000000",
        "--frame-bytes=90000",
    ]);
    let mut stream = TcpStream::connect(&served.address).unwrap();
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    stream.write_all(preface).unwrap();
    stream.write_all(&settings).unwrap();

    let (mut sizes, mut window) = (Vec::new(), None);
    while sizes.is_empty() || window.is_none() {
        let mut head = [0; 9];
        stream.read_exact(&mut head).unwrap();
        let mut body = vec![0; usize::from(u16::from_be_bytes([head[1], head[2]]))];
        stream.read_exact(&mut body).unwrap();
        let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap());
        match head[3] {
            // SETTINGS; one without any acknowledges ours.
            4 => sizes.extend(body.chunks(6).map(|one| (one[1], number(&one[2..])))),
            // WINDOW_UPDATE, of the connection: what it has beyond the 65,535 of every connection.
            8 => window = Some(number(&body)),
            kind => panic!("a frame of kind {kind}"),
        }
    }
    // SETTINGS_INITIAL_WINDOW_SIZE and SETTINGS_MAX_FRAME_SIZE.
    assert!(sizes.contains(&(4, 70_000)), "{sizes:?}");
    assert!(sizes.contains(&(5, 90_000)), "{sizes:?}");
    assert_eq!(window, Some(1_000_000 - 65_535));
}

/// `solve`, with both its pipes in our hands.
struct Piped {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Piped {
    fn start(args: &[&str]) -> Piped {
        let mut child = piped(binary().arg("solve").args(args));
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Piped {
            child,
            stdin,
            stdout,
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }

    /// Closes both pipes and waits for the end.
    fn end(self) -> (Option<i32>, String) {
        let Piped {
            mut child,
            stdin,
            stdout,
        } = self;
        drop((stdin, stdout));
        let mut stderr = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut stderr)
            .unwrap();
        (child.wait().unwrap().code(), stderr)
    }
}

#[test]
fn a_lone_board_is_answered_before_the_next_one_comes() {
    let mut piped = Piped::start(&[]);
    for _ in 0..3 {
        writeln!(piped.stdin, "{UNIQUE}").unwrap();
        assert_eq!(piped.line(), format!("{GRID}\n"));
    }
    let (code, stderr) = piped.end();
    assert_eq!(code, Some(0), "{stderr}");
}

#[test]
fn a_server_that_dies_ends_the_run_with_3() {
    let mut served = Served::start();
    let mut piped = Piped::start(&["--retry-for", "0s", "--server", &served.url()]);
    writeln!(piped.stdin, "{UNIQUE}").unwrap();
    assert_eq!(piped.line(), format!("{GRID}\n"));
    served.child.kill().unwrap();
    // It must not take the end of its input, or more of it, to notice.
    assert_eq!(piped.line(), "", "no more answers");
    let (code, stderr) = piped.end();
    assert_eq!(code, Some(3));
    let told = "boards from 1 on: not sent: no server took boards for ";
    assert!(stderr.contains(told), "{stderr}");
}

#[test]
fn a_reader_that_has_enough_ends_the_run_quietly() {
    let boards = file("enough.txt", format!("{UNIQUE}\n").repeat(50_000));
    let mut piped = Piped::start(&[boards.to_str().unwrap()]);
    assert_eq!(piped.line(), format!("{GRID}\n"));
    let (code, stderr) = piped.end();
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

/// The peak of the memory of `solve` when it has answered this many boards, in KiB.
#[cfg(target_os = "linux")]
fn peak_kib(boards: usize) -> u64 {
    let piped = Piped::start(&[]);
    let Piped {
        child,
        mut stdin,
        mut stdout,
    } = piped;
    let writer = thread::spawn(move || {
        let block = format!("{UNIQUE}\n").repeat(1000);
        for _ in 0..boards / 1000 {
            stdin.write_all(block.as_bytes()).unwrap();
        }
        stdin
    });
    let mut answers = vec![0; boards * (GRID.len() + 1)];
    stdout.read_exact(&mut answers).unwrap();
    assert!(
        answers
            .chunks(GRID.len() + 1)
            .all(|line| line.starts_with(GRID.as_bytes()))
    );
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let stdin = writer.join().unwrap();
    assert_eq!(
        Piped {
            child,
            stdin,
            stdout
        }
        .end()
        .0,
        Some(0)
    );
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    peak.trim().trim_end_matches(" kB").parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn memory_stays_flat_however_many_boards() {
    let (few, many) = (peak_kib(50_000), peak_kib(500_000));
    println!("peak memory: {few} KiB for 50,000 boards, {many} KiB for 500,000");
    // The boards alone would be another 36 MiB, their answers 80 MiB and more.
    assert!(many < few + 24 * 1024, "{few} KiB became {many} KiB");
}
