//! The real binary, run as people and scripts run it.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    reason = "each test file uses its own part of this"
)]

pub mod boards;
pub mod certificates;
pub mod envoy;
pub mod fleet;
pub mod image;
pub mod job;
pub mod logged;
pub mod pages;
pub mod peers;
pub mod served;
pub mod web;

use std::{
    fs,
    io::Write as _,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
};

use flate2::{Compression, write::GzEncoder};

/// The binary, with nothing of the caller's environment that would change what it does.
pub fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sudoku-solver"));
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"SUDOKU_") {
            command.env_remove(name);
        }
    }
    command.env_remove("RUST_LOG");
    command
}

/// What cargo tells a test of its package no shell has. Build scripts that look at it, as ring's does, would run
/// anew, and half of a build with them.
pub fn as_in_a_shell(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let is_of_the_package = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_CFG_", "OUT_DIR"]
            .iter()
            .any(|start| name.as_encoded_bytes().starts_with(start.as_bytes()));
        if is_of_the_package {
            command.env_remove(name);
        }
    }
}

/// What a finished run left.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// It ended in an error of one line with these words, and answered nothing.
    #[track_caller]
    pub fn assert_failed(&self, code: i32, texts: &[&str]) {
        let Run { stdout, stderr, .. } = self;
        assert_eq!((self.code, stdout.as_str()), (Some(code), ""), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        for text in texts {
            assert!(stderr.contains(text), "{text}: {stderr}");
        }
    }
}

/// Runs `solve` with these arguments and this standard input.
#[track_caller]
pub fn solve(args: &[&str], stdin: impl AsRef<[u8]>) -> Run {
    run(binary().arg("solve").args(args), stdin)
}

/// Runs a command to its end.
#[track_caller]
pub fn run(command: &mut Command, stdin: impl AsRef<[u8]>) -> Run {
    let stdin = stdin.as_ref().to_vec();
    let mut child = piped(command);
    let mut pipe = child.stdin.take().unwrap();
    // On a thread of its own: both pipes may be full at once. A program need not read its input.
    let writer = thread::spawn(move || drop(pipe.write_all(&stdin)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Starts a command with a pipe at each end.
#[track_caller]
pub fn piped(command: &mut Command) -> Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// A file of this test's own.
pub fn file(name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content).unwrap();
    path
}

/// A text, compressed.
pub fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// A path of the repository.
pub fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}
