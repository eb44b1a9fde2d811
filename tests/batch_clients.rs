//! The batch clients of `examples/` in Python and Node, against real servers of which one is killed.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod binary;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command},
    thread,
    time::Duration,
};

use binary::{
    file,
    fleet::{boards, nobody},
    peers::{peers, python_stubs},
    repository, run,
    served::Served,
    solve,
};

/// A client, ready to be given its arguments.
type Client = fn() -> Option<Command>;

fn python() -> Option<Command> {
    let python = peers()?.join("python/bin/python");
    let mut command = Command::new(&python);
    command
        .env("PYTHONPATH", python_stubs(&python))
        .arg(repository("examples/python/batch.py"));
    Some(command)
}

fn node() -> Option<Command> {
    let mut command = Command::new("node");
    command
        .env("NODE_MODULES_FOLDER", peers()?.join("node"))
        .arg(repository("examples/node/batch.mjs"));
    Some(command)
}

/// The boards of the tests as a file, and what a client is to write for them.
fn job(name: &str, count: usize) -> (PathBuf, String) {
    let boards = boards(count);
    let answers = solve(&["--output", "jsonl"], boards.join("\n")).stdout;
    let expected = boards.iter().zip(answers.lines()).map(|(board, answer)| {
        let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
        let solutions: Vec<&str> = answer["solutions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|solution| solution.as_str().unwrap())
            .collect();
        let status = answer["status"].as_str().unwrap();
        format!("{board}\t{status}\t{}\n", solutions.join(" "))
    });
    let expected = expected.collect();
    (file(name, boards.join("\n") + "\n"), expected)
}

fn out(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(fs::remove_file(&path));
    path
}

/// Waits until the client has written something, and more will follow.
fn begun(out: &Path) {
    while fs::metadata(out).map_or(0, |file| file.len()) == 0 {
        thread::sleep(Duration::from_millis(1));
    }
}

#[track_caller]
fn start(
    client: &mut Command,
    servers: &[&str],
    rest: &[&str],
    boards: &Path,
    out: &Path,
) -> Child {
    for server in servers {
        client.args(["--server", server]);
    }
    let client = client.args(rest).arg("--out").arg(out).arg(boards);
    client.stderr(std::process::Stdio::piped()).spawn().unwrap()
}

#[track_caller]
fn check_a_killed_replica(client: Client, name: &str) {
    let Some(mut command) = client() else { return };
    let (boards, expected) = job(&format!("{name}-killed.txt"), 50_000);
    let out = out(&format!("{name}-killed.tsv"));
    let [mut first, second] = [(); 2].map(|()| Served::start());
    let servers = [&*first.address, &*second.address];
    let client = start(&mut command, &servers, &[], &boards, &out);
    begun(&out);
    first.child.kill().unwrap();
    let ended = client.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert!(fs::read_to_string(&out).unwrap() == expected, "{said}");
}

#[track_caller]
fn check_a_killed_client(client: Client, name: &str) {
    let Some(mut command) = client() else { return };
    let (boards, expected) = job(&format!("{name}-resumed.txt"), 50_000);
    let out = out(&format!("{name}-resumed.tsv"));
    let served = Served::start();
    let mut killed = start(&mut command, &[&served.address], &[], &boards, &out);
    begun(&out);
    killed.kill().unwrap();
    killed.wait().unwrap();
    // A line that was torn is one more thing to be mended.
    let left = fs::read_to_string(&out).unwrap();
    let whole_lines = &left[..left.rfind('\n').unwrap()];
    let torn = &left[..whole_lines.rfind('\n').unwrap() + 10];
    fs::write(&out, torn).unwrap();
    assert!(expected.starts_with(torn));

    let mut again = client().unwrap();
    let resumed = start(&mut again, &[&served.address], &["--resume"], &boards, &out);
    let ended = resumed.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert!(fs::read_to_string(&out).unwrap() == expected, "{said}");

    let other = file(&format!("{name}-other.txt"), "1".repeat(81) + "\n");
    let mut other_input = client().unwrap();
    let refused = start(
        &mut other_input,
        &[&served.address],
        &["--resume"],
        &other,
        &out,
    );
    let ended = refused.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("does not belong to this input"));
    assert!(
        fs::read_to_string(&out).unwrap() == expected,
        "it was touched"
    );
}

#[track_caller]
fn check_nobody(client: Client, name: &str) {
    let Some(mut command) = client() else { return };
    let (boards, _) = job(&format!("{name}-nobody.txt"), 10);
    let out = out(&format!("{name}-nobody.tsv"));
    let run = run(
        command
            .args(["--server", &nobody(), "--patience", "1", "--out"])
            .arg(&out)
            .arg(&boards),
        "",
    );
    assert_eq!(run.code, Some(3), "{}", run.stderr);
    assert!(
        run.stderr
            .contains("boards from 0 on are unanswered: no answer for "),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("UNAVAILABLE"), "{}", run.stderr);
}

#[test]
fn python_goes_on_when_a_replica_is_killed() {
    check_a_killed_replica(python, "python");
}

#[test]
fn python_continues_its_file() {
    check_a_killed_client(python, "python");
}

#[test]
fn python_tells_when_there_is_nobody() {
    check_nobody(python, "python");
}

#[test]
fn node_goes_on_when_a_replica_is_killed() {
    check_a_killed_replica(node, "node");
}

#[test]
fn node_continues_its_file() {
    check_a_killed_client(node, "node");
}

#[test]
fn node_tells_when_there_is_nobody() {
    check_nobody(node, "node");
}
