//! The binary as a server, on a port of its own.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
};

use super::binary;

/// A running `serve`. Dropping it kills it.
#[derive(Debug)]
pub struct Served {
    pub child: Child,
    /// `127.0.0.1:port`.
    pub address: String,
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

    /// Returns when the server listens: its log says on which port.
    #[track_caller]
    pub fn at(listen: &str, args: &[&str]) -> Served {
        let mut child = binary()
            .args(["serve", "--listen", listen, "--log-format", "json"])
            .args(args)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = log.find_map(|line| address(&line.unwrap())).unwrap();
        // A log that nobody reads would block the server in the end.
        thread::spawn(move || log.for_each(drop));
        Served { child, address }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sends SIGTERM and waits for the end.
    #[track_caller]
    pub fn terminated(mut self) -> ExitStatus {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").arg(id).status().unwrap().success());
        self.child.wait().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn address(line: &str) -> Option<String> {
    let event: serde_json::Value = serde_json::from_str(line).ok()?;
    event
        .get("fields")?
        .get("address")?
        .as_str()
        .map(str::to_owned)
}
