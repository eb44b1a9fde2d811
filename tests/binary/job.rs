//! A job of the real client, in the middle of which things can happen.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdout},
    sync::mpsc,
    thread,
};

use super::{Run, binary, piped, solve};

/// A `solve` whose input comes piece by piece, so that things happen in the middle of its job.
#[derive(Debug)]
pub struct Job {
    child: Child,
    input: mpsc::Sender<String>,
    stdout: BufReader<ChildStdout>,
    answers: Vec<String>,
}

impl Job {
    pub fn start(servers: &[&str], args: &[&str]) -> Job {
        let mut solve = binary();
        solve.args(["solve", "--server", &servers.join(",")]);
        let mut child = piped(solve.args(args));
        let mut stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (input, pieces) = mpsc::channel::<String>();
        // Both pipes may be full at once; and a job may end before its input.
        thread::spawn(move || {
            pieces
                .iter()
                .take_while(|piece| stdin.write_all(piece.as_bytes()).is_ok())
                .for_each(drop);
        });
        Job {
            child,
            input,
            stdout,
            answers: Vec::new(),
        }
    }

    pub fn send(&self, boards: &[String]) {
        self.input.send(boards.join("\n") + "\n").unwrap();
    }

    /// Waits for one more answer: the job is in the middle of what was sent.
    pub fn answer(&mut self) {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        self.answers.push(line.trim_end().to_owned());
    }

    /// Waits until this many boards are answered.
    pub fn answers(&mut self, count: usize) {
        while self.answers.len() < count {
            self.answer();
        }
    }

    /// Ends the input and waits for the end.
    pub fn end(self) -> Run {
        let Job {
            mut child,
            input,
            mut stdout,
            answers,
        } = self;
        drop(input);
        let mut stderr = child.stderr.take().unwrap();
        let said = thread::spawn(move || {
            let mut said = String::new();
            stderr.read_to_string(&mut said).unwrap();
            said
        });
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        let mut stdout: String = answers.into_iter().map(|line| line + "\n").collect();
        stdout.push_str(&rest);
        Run {
            code: child.wait().unwrap().code(),
            stdout,
            stderr: said.join().unwrap(),
        }
    }
}

/// Every board has its answer, that of a process alone.
#[track_caller]
pub fn check_complete(run: &Run, boards: &[String]) {
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let alone = solve(&[], boards.join("\n"));
    assert_eq!(run.stdout.lines().count(), boards.len(), "{}", run.stderr);
    let differs = run
        .stdout
        .lines()
        .zip(alone.stdout.lines())
        .position(|(one, other)| one != other);
    assert_eq!(differs, None, "{}", run.stderr);
}
