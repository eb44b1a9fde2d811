//! The binary as a server, on a port of its own.

use std::{
    io::{BufRead as _, BufReader},
    iter,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use super::binary;

/// A running `serve`. Dropping it kills it.
#[derive(Debug)]
pub struct Served {
    pub child: Child,
    /// `127.0.0.1:port`.
    pub address: String,
    /// What it said before it listened.
    pub early: Vec<String>,
    log: Receiver<String>,
}

impl Served {
    #[track_caller]
    pub fn start() -> Served {
        Served::with(&[])
    }

    #[track_caller]
    pub fn with(args: &[&str]) -> Served {
        Served::at("127.0.0.1:0", args)
    }

    #[track_caller]
    pub fn at(listen: &str, args: &[&str]) -> Served {
        Served::run(binary().args(["serve", "--listen", listen]).args(args))
    }

    /// Returns when the server listens: its log says on which port.
    #[track_caller]
    pub fn run(command: &mut Command) -> Served {
        let mut child = command
            .args(["--log-format", "json"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (sender, log) = mpsc::channel();
        // A log that nobody reads would block the server in the end.
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                drop(sender.send(line));
            }
        });
        let mut early = Vec::new();
        let address = loop {
            let line = log.recv().unwrap();
            match listening(&line) {
                Some(address) => break address,
                None => early.push(line),
            }
        };
        Served {
            child,
            address,
            early,
            log,
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Waits for a line of the log that holds this.
    #[track_caller]
    pub fn line_with(&self, text: &str) -> String {
        // A test that waits for what never comes has to fail in the end.
        let mut lines = iter::from_fn(|| self.log.recv_timeout(Duration::from_mins(1)).ok());
        lines.find(|line| line.contains(text)).unwrap()
    }

    /// Sends a signal by its name, such as `STOP`.
    #[track_caller]
    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.unwrap().success());
    }

    /// Sends SIGTERM and waits for the end.
    #[track_caller]
    pub fn terminated(mut self) -> ExitStatus {
        self.signal("TERM");
        self.child.wait().unwrap()
    }

    /// Ends it and returns what is left of its log.
    #[track_caller]
    pub fn end(&mut self) -> Vec<String> {
        self.signal("TERM");
        assert!(self.child.wait().unwrap().success());
        self.rest()
    }

    /// What is left of the log of one that has ended.
    pub fn rest(&self) -> Vec<String> {
        self.log.iter().collect()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn listening(line: &str) -> Option<String> {
    let event: serde_json::Value = serde_json::from_str(line).ok()?;
    let fields = event.get("fields")?;
    let listening = fields.get("message")?.as_str()? == "listening";
    listening.then(|| fields["address"].as_str().unwrap().to_owned())
}
