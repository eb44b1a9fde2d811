//! The binary as a server whose log is read, and which is ended by a signal.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
};

use serde_json::Value;

use super::{binary, served::Served};

const ACCESS: &str = "sudoku_solver::access";

/// A running `serve`. Dropping it kills it.
#[derive(Debug)]
pub struct Logged {
    served: Served,
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
        let mut serve = binary();
        serve.args(["serve", "--listen", "127.0.0.1:0"]).args(args);
        let served = Served::run(serve.envs(environment.iter().copied()));
        let metrics = args.contains(&"--metrics-listen").then(|| {
            let event = event(&served.line_with("metrics_address"));
            let address = event["fields"]["metrics_address"].as_str();
            address.unwrap().to_owned()
        });
        Logged {
            address: served.address.clone(),
            served,
            metrics,
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The next line of the access log.
    #[track_caller]
    pub fn access(&self) -> Value {
        event(&self.served.line_with(ACCESS))["fields"].take()
    }

    /// Ends it by SIGTERM and waits.
    #[track_caller]
    pub fn end(mut self) -> Ended {
        self.served.signal("TERM");
        Ended {
            code: self.served.child.wait().unwrap().code(),
            log: self.served.rest(),
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
        events.filter(|event| event["target"] == ACCESS).collect()
    }
}

fn event(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}
