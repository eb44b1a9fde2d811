//! The binary as a server whose log is read, and which is ended by a signal.

use std::{
    io::{BufRead as _, BufReader, Lines, Read as _, Write as _},
    net::TcpStream,
    process::{Child, ChildStderr, Command, Stdio},
};

use serde_json::Value;

use super::binary;

/// A running `serve`. Dropping it kills it.
#[derive(Debug)]
pub struct Logged {
    child: Child,
    log: Lines<BufReader<ChildStderr>>,
    /// `127.0.0.1:port`.
    pub address: String,
    /// That of the metrics, if there is one.
    pub metrics: Option<String>,
}

/// What is left of a server that has ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub log: Vec<String>,
}

impl Logged {
    #[track_caller]
    pub fn start(args: &[&str]) -> Logged {
        Logged::with(args, &[])
    }

    /// Returns when the server listens: its log says on which ports.
    #[track_caller]
    pub fn with(args: &[&str], environment: &[(&str, &str)]) -> Logged {
        let mut child = binary()
            .args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"])
            .args(args)
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut served = Logged {
            child,
            log,
            address: String::new(),
            metrics: None,
        };
        served.address = served.field("address");
        if args.contains(&"--metrics-listen") {
            served.metrics = Some(served.field("metrics_address"));
        }
        served
    }

    fn field(&mut self, name: &str) -> String {
        let events = self.log.by_ref().map(|line| event(&line.unwrap()));
        let mut fields = events.map(|event| event["fields"][name].as_str().map(str::to_owned));
        fields.find_map(|field| field).unwrap()
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next line of the access log.
    #[track_caller]
    pub fn access(&mut self) -> Value {
        let mut events = self.log.by_ref().map(|line| event(&line.unwrap()));
        events.find(is_access).unwrap()["fields"].take()
    }

    /// Ends it by SIGTERM and waits.
    #[track_caller]
    pub fn end(mut self) -> Ended {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", "TERM", &id]).status();
        assert!(sent.unwrap().success());
        let log = self.log.by_ref().map(Result::unwrap).collect();
        Ended {
            code: self.child.wait().unwrap().code(),
            log,
        }
    }

    /// What the metrics listener answers to a request, head and all.
    #[track_caller]
    pub fn http(&self, method: &str, path: &str) -> String {
        let mut stream = TcpStream::connect(self.metrics.as_ref().unwrap()).unwrap();
        write!(stream, "{method} {path} HTTP/1.1\r\nhost: metrics\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// The metrics as Prometheus reads them.
    #[track_caller]
    pub fn scrape(&self) -> String {
        let answer = self.http("GET", "/metrics");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
        body.to_owned()
    }
}

impl Ended {
    /// The lines of the access log.
    pub fn access(&self) -> Vec<Value> {
        let events = self.log.iter().map(|line| event(line));
        events.filter(is_access).collect()
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn event(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

fn is_access(event: &Value) -> bool {
    event["target"] == "sudoku_solver::access"
}
