//! `bench` as people and scripts run it. What it measures is never judged here, only that it is
//! there and can be true.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a failed unwrap is a failed test"
)]

mod binary;

use serde_json::Value;

use binary::{
    Run, binary,
    boards::{CLASHING, EMPTY, GRID, MALFORMED, TWO, UNIQUE, UNSOLVABLE},
    file, gzip, repository, run,
    served::Served,
};

/// One pass of each measurement.
#[track_caller]
fn bench(args: &[&str]) -> Run {
    run(binary().args(["bench", "--seconds", "0"]).args(args), "")
}

/// The objects of a run that must go well.
#[track_caller]
fn json(args: &[&str]) -> Vec<Value> {
    let run = bench(&[&["--output", "json"], args].concat());
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let objects = run.stdout.lines().map(serde_json::from_str);
    objects.collect::<Result<_, _>>().unwrap()
}

#[track_caller]
fn number(object: &Value, field: &str) -> f64 {
    object[field]
        .as_f64()
        .unwrap_or_else(|| panic!("{field} of {object}"))
}

/// What each measurement must have, with the server's CPU time or without.
#[track_caller]
fn assert_measured(object: &Value, server_cpu: bool) {
    for measurement in ["engine", "single", "rpc"] {
        let median = number(object, &format!("{measurement}_boards_per_second"));
        let best = number(object, &format!("{measurement}_boards_per_second_best"));
        assert!(0.0 < median && median <= best, "{object}");
    }
    let engine = number(object, "engine_cpu_nanos_per_board");
    assert!(engine > 0.0, "{object}");
    if server_cpu {
        let server = number(object, "rpc_server_cpu_nanos_per_board");
        let beyond = number(object, "rpc_server_cpu_beyond_engine_nanos_per_board");
        assert!(server > 0.0, "{object}");
        // Each of the three is rounded to a tenth.
        assert!((server - engine - beyond).abs() < 0.2, "{object}");
    } else {
        assert!(object["rpc_server_cpu_nanos_per_board"].is_null());
        assert!(object["rpc_server_cpu_beyond_engine_nanos_per_board"].is_null());
    }
}

fn path(name: &str, content: impl AsRef<[u8]>) -> String {
    file(name, content).into_os_string().into_string().unwrap()
}

#[test]
fn every_figure_is_there() {
    let boards = [UNIQUE, GRID, TWO, UNSOLVABLE, CLASHING, EMPTY].join("\n");
    let easy = path("bench-easy.txt", format!("{UNIQUE}\n{GRID}\n").repeat(300));
    let mixed = path("bench-mixed.txt.gz", gzip(&boards));
    let objects = json(&[&easy, &mixed]);
    let [first, second] = objects.as_slice() else {
        panic!("one object a file: {objects:?}");
    };

    assert_eq!(first["file"], easy.as_str());
    assert_eq!(first["boards"], 600);
    assert_measured(first, cfg!(target_os = "linux"));
    assert!((number(first, "nodes_per_board") - 1.0).abs() < 1e-9);
    assert!(number(first, "guesses_per_board").abs() < 1e-9);
    assert!((number(first, "no_guess_share") - 1.0).abs() < 1e-9);

    assert_eq!(second["file"], mixed.as_str());
    assert_eq!(second["boards"], 6);
    assert_measured(second, cfg!(target_os = "linux"));
    // TWO needs one guess, EMPTY many, the others none.
    assert!(number(second, "guesses_per_board") > 10.0 / 6.0, "{second}");
    assert!(
        (number(second, "no_guess_share") - 0.6667).abs() < 1e-3,
        "{second}"
    );
    for object in &objects {
        assert_eq!(object["malformed"], 0);
        assert_eq!(object["undecided"], 0);
        assert_eq!(object["solution_limit"], 2);
        assert_eq!(object["message_boards"], 256);
    }
}

#[test]
fn the_solution_limit_reaches_the_search() {
    let empty = path("bench-limit.txt", EMPTY);
    let nodes = |limit| number(&json(&["--limit", limit, &empty])[0], "nodes_per_board");
    assert!(nodes("1") < nodes("100"));
}

#[test]
fn a_guess_counts_once_however_many_of_its_halves_were_searched() {
    let two = path("bench-guess.txt", TWO);
    for (limit, nodes) in [("1", 2), ("2", 3), ("3", 3)] {
        let object = &json(&["--limit", limit, &two])[0];
        let figures = ["nodes_per_board", "guesses_per_board", "no_guess_share"];
        let figures = figures.map(|field| number(object, field).to_string());
        assert_eq!(
            figures,
            [nodes.to_string(), "1".into(), "0".into()],
            "{object}"
        );
    }
}

#[test]
fn messages_may_have_any_size() {
    let boards = path("bench-messages.txt", format!("{UNIQUE}\n").repeat(50));
    for size in ["1", "7", "49152"] {
        let object = &json(&["--message-boards", size, &boards])[0];
        assert_eq!(object["message_boards"].to_string(), size);
        assert_measured(object, cfg!(target_os = "linux"));
    }
}

#[test]
fn the_server_beside_it_compresses_as_it_does() {
    let boards = path("bench-compression.txt", format!("{UNIQUE}\n").repeat(3000));
    for encoding in ["gzip", "zstd"] {
        let object = &json(&["--compression", encoding, &boards])[0];
        assert_eq!(object["compression"], encoding);
        assert_measured(object, cfg!(target_os = "linux"));
    }
}

#[test]
fn the_connection_may_have_any_settings() {
    let boards = path("bench-connection.txt", format!("{UNIQUE}\n").repeat(3000));
    for (bytes, frame) in [("65535", "16384"), ("2147483647", "16777215")] {
        let object = &json(&[
            "--client-stream-window",
            bytes,
            "--client-connection-window",
            bytes,
            "--client-frame-size",
            frame,
            &boards,
        ])[0];
        assert_measured(object, cfg!(target_os = "linux"));
    }
}

#[test]
fn a_level_is_used_and_told() {
    let boards = path("bench-level.txt", UNIQUE);
    let object = &json(&["--cpu-level", "portable", &boards])[0];
    assert_eq!(object["cpu_level"], "portable");
    let run = bench(&["--cpu-level", "mmx", &boards]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("'mmx' is none of"), "{}", run.stderr);
}

#[test]
fn the_version_tells_the_level() {
    let run = run(binary().arg("--version"), "");
    let version = env!("CARGO_PKG_VERSION");
    let level = sudoku_solver::batch::Level::detect();
    assert_eq!(
        run.stdout,
        format!("sudoku-solver {version} (cpu level {level})\n")
    );
}

#[test]
fn a_running_server_is_measured_without_its_cpu_time() {
    let served = Served::start();
    let boards = path("bench-server.txt", UNIQUE);
    let object = &json(&["--server", &served.address, &boards])[0];
    assert_measured(object, false);
}

#[test]
fn what_is_no_board_is_left_out_and_counted() {
    let boards = path(
        "bench-malformed.txt",
        format!("{UNIQUE}\n{MALFORMED}\n{UNIQUE}\n{}\n", &UNIQUE[1..]),
    );
    let run = bench(&["--output", "json", &boards]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let object: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(object["boards"], 2);
    assert_eq!(object["malformed"], 2);
    assert!(
        run.stderr.contains("no board: 2, the first on line 2"),
        "{}",
        run.stderr
    );
}

#[test]
fn the_table_has_a_row_a_file() {
    let easy = repository("tests/data/easy.txt")
        .into_os_string()
        .into_string()
        .unwrap();
    let two = path("bench-two.txt", TWO);
    let run = bench(&[&easy, &two]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let level = sudoku_solver::batch::Level::detect().name();
    assert!(
        run.stdout.starts_with(&format!("cpu level {level}, ")),
        "{}",
        run.stdout
    );
    for (name, boards) in [("easy.txt", "20"), ("bench-two.txt", "1")] {
        let row = run
            .stdout
            .lines()
            .find(|line| line.starts_with(name))
            .unwrap();
        assert_eq!(row.split_whitespace().nth(1), Some(boards), "{row}");
    }
}

#[test]
fn wrong_use_is_told() {
    let fails = |args: &[&str], code, text: &str| {
        let run = run(binary().arg("bench").args(args), "");
        assert_eq!(run.code, Some(code), "{}", run.stderr);
        assert!(run.stderr.contains(text), "{}", run.stderr);
        assert!(!run.stdout.contains('{'), "{}", run.stdout);
    };
    let none = path("bench-none.txt", "# nothing\n");
    let one = path("bench-one.txt", UNIQUE);
    fails(&[], 2, "<FILE>");
    fails(&["--limit", "0", &one], 2, "--limit");
    fails(&["--seconds", "-1", &one], 2, "--seconds");
    fails(&["--seconds", "nan", &one], 2, "--seconds");
    fails(&["--message-boards", "49153", &one], 2, "--message-boards");
    fails(
        &["--client-frame-size", "16383", &one],
        2,
        "--client-frame-size",
    );
    fails(
        &["--client-stream-window", "0", &one],
        2,
        "--client-stream-window",
    );
    // Before anything is measured.
    fails(
        &["--output", "json", &one, "no-such-file.txt"],
        1,
        "no-such-file.txt",
    );
    fails(&[&none], 1, "holds no board");
    fails(
        &["--seconds", "0", "--server", "http://127.0.0.1:1", &one],
        1,
        "cannot connect",
    );
}
