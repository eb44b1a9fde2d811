//! Clients that are not ours, in three languages, against the real binary: grpcurl, grpcio from
//! Python and grpc-js from Node, the latter two built from the proto.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod binary;

use std::{path::PathBuf, process::Command};

use serde_json::{Value, json};

use binary::{
    Run,
    boards::{CLASHING, GRID, MALFORMED, TWO, UNIQUE, UNSOLVABLE},
    peers::{peers, python_stubs},
    repository, run,
    served::Served,
};

/// grpcurl and a server to point it at.
struct Grpcurl {
    program: PathBuf,
    served: Served,
}

impl Grpcurl {
    #[track_caller]
    fn start() -> Option<Grpcurl> {
        let program = peers()?.join("python/bin/grpcurl");
        Some(Grpcurl {
            program,
            served: Served::start(),
        })
    }

    #[track_caller]
    fn run(&self, flags: &[&str], call: &[&str], stdin: &str) -> Run {
        let mut grpcurl = Command::new(&self.program);
        grpcurl
            .arg("-plaintext")
            .args(flags)
            .arg(&self.served.address)
            .args(call);
        run(&mut grpcurl, stdin)
    }

    /// The messages that a call answers.
    #[track_caller]
    fn call(&self, flags: &[&str], method: &str, stdin: &str) -> Vec<Value> {
        let run = self.run(flags, &[method], stdin);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        let messages = serde_json::Deserializer::from_str(&run.stdout).into_iter();
        messages.collect::<Result<_, _>>().unwrap()
    }
}

fn statuses(responses: &[Value]) -> Vec<&str> {
    let results = responses
        .iter()
        .flat_map(|response| response["results"].as_array().unwrap());
    results
        .map(|result| result["status"].as_str().unwrap())
        .collect()
}

#[test]
fn grpcurl_lists_and_describes() {
    let Some(grpcurl) = Grpcurl::start() else {
        return;
    };
    let list = grpcurl.run(&[], &["list"], "").stdout;
    for service in ["sudoku.v1.SudokuSolver", "grpc.health.v1.Health"] {
        assert!(list.lines().any(|line| line == service), "{list}");
    }
    let service = grpcurl
        .run(&[], &["describe", "sudoku.v1.SudokuSolver"], "")
        .stdout;
    assert!(
        service.contains("rpc Solve ( .sudoku.v1.SolveRequest )"),
        "{service}"
    );
    assert!(
        service.contains("rpc SolveBatch ( stream .sudoku.v1.SolveBatchRequest )"),
        "{service}"
    );
    let result = grpcurl
        .run(&[], &["describe", "sudoku.v1.SolveResult"], "")
        .stdout;
    assert!(
        result.contains(".google.protobuf.Duration solve_time"),
        "{result}"
    );
}

#[test]
fn grpcurl_asks_for_health() {
    let Some(grpcurl) = Grpcurl::start() else {
        return;
    };
    for request in ["{}", r#"{"service": "sudoku.v1.SudokuSolver"}"#] {
        let health = grpcurl.call(&["-d", request], "grpc.health.v1.Health/Check", "");
        assert_eq!(health, [json!({"status": "SERVING"})]);
    }
}

#[test]
fn grpcurl_solves() {
    let Some(grpcurl) = Grpcurl::start() else {
        return;
    };
    let solve = |request: Value| {
        grpcurl.call(
            &["-d", &request.to_string()],
            "sudoku.v1.SudokuSolver/Solve",
            "",
        )
    };
    let mut responses = solve(json!({"board": UNIQUE}));
    let result = responses[0]["result"].as_object_mut().unwrap();
    let time = result.remove("solveTime").unwrap();
    assert!(time.as_str().unwrap().ends_with('s'), "{time}");
    let expected = json!({
        "status": "SOLVE_STATUS_UNIQUE", "solutions": [GRID], "solutionCount": 1, "nodes": 1
    });
    assert_eq!(Value::Object(result.clone()), expected);

    let responses = solve(json!({"board": TWO, "options": {"solutionLimit": 5}}));
    assert_eq!(
        responses[0]["result"]["solutions"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn grpcurl_shows_what_is_wrong_with_a_board() {
    let Some(grpcurl) = Grpcurl::start() else {
        return;
    };
    let request = json!({"board": UNIQUE.replacen('.', "!", 1)}).to_string();
    let run = grpcurl.run(&["-d", &request], &["sudoku.v1.SudokuSolver/Solve"], "");
    assert_ne!(run.code, Some(0));
    for part in [
        "Code: InvalidArgument",
        "position 3",
        "google.rpc.BadRequest",
        "\"field\":\"board\"",
    ] {
        assert!(run.stderr.contains(part), "{part} is not in {}", run.stderr);
    }
}

#[test]
fn grpcurl_streams_a_batch_from_its_standard_input() {
    let Some(grpcurl) = Grpcurl::start() else {
        return;
    };
    let messages = [
        json!({"boards": [UNIQUE, TWO, UNSOLVABLE]}),
        json!({"boards": [CLASHING]}),
        json!({"boards": []}),
        json!({"boards": [MALFORMED, UNIQUE], "options": {"solutionLimit": 1}}),
    ]
    .map(|message| message.to_string())
    .join(
        "
",
    );
    let responses = grpcurl.call(&["-d", "@"], "sudoku.v1.SudokuSolver/SolveBatch", &messages);
    assert_eq!(
        statuses(&responses),
        [
            "SOLVE_STATUS_UNIQUE",
            "SOLVE_STATUS_MULTIPLE",
            "SOLVE_STATUS_UNSOLVABLE",
            "SOLVE_STATUS_CLASHING_GIVENS",
            "SOLVE_STATUS_MALFORMED",
            "SOLVE_STATUS_SOLVED",
        ]
    );
    assert!(
        grpcurl
            .call(&["-d", "@"], "sudoku.v1.SudokuSolver/SolveBatch", "")
            .is_empty()
    );
}

#[track_caller]
fn check_script(command: &mut Command) {
    let run = run(command, "");
    assert!(
        run.stdout.ends_with("all ok\n"),
        "{}{}",
        run.stdout,
        run.stderr
    );
    assert_eq!(run.code, Some(0), "{}", run.stderr);
}

#[test]
fn a_python_client_built_from_the_proto() {
    let Some(peers) = peers() else { return };
    let python = peers.join("python/bin/python");
    let served = Served::start();
    check_script(
        Command::new(&python)
            .arg(repository("tests/clients/client.py"))
            .arg(python_stubs(&python))
            .arg(&served.address),
    );
}

#[test]
fn a_node_client_built_from_the_proto() {
    let Some(peers) = peers() else { return };
    let served = Served::start();
    check_script(
        Command::new("node")
            .arg(repository("tests/clients/client.mjs"))
            .arg(peers.join("node"))
            .arg(&served.address),
    );
}

/// Runs a script against a server that takes gzip, and against one that takes nothing compressed.
#[track_caller]
fn check_compressed(script: impl Fn() -> Command) {
    for (flag, expected) in [("gzip,zstd", "taken"), ("off", "refused")] {
        let served = Served::with(&["--compression", flag]);
        check_script(script().arg(&served.address).arg(expected));
    }
}

#[test]
fn a_python_client_that_compresses() {
    let Some(peers) = peers() else { return };
    let python = peers.join("python/bin/python");
    check_compressed(|| {
        let mut script = Command::new(&python);
        script
            .arg(repository("tests/clients/compressed.py"))
            .arg(python_stubs(&python));
        script
    });
}

#[test]
fn a_node_client_that_compresses() {
    let Some(peers) = peers() else { return };
    check_compressed(|| {
        let mut script = Command::new("node");
        script
            .arg(repository("tests/clients/compressed.mjs"))
            .arg(peers.join("node"));
        script
    });
}
