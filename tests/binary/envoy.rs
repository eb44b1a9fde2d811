//! The real Envoy, with `deploy/envoy.yaml` as it is but for its addresses.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use super::{file, peers::peers, repository};

/// The address that `deploy/envoy.yaml` has for the replicas.
const REPLICAS: &str = "address: sudoku-solver-replicas, port_value: 50051";

/// A running Envoy. Dropping it kills it.
#[derive(Debug)]
pub struct Envoy {
    child: Child,
    /// Where it takes calls.
    pub address: String,
    admin: String,
}

/// Envoy's program, or `None`, said aloud, on a machine that has not got it.
#[track_caller]
pub fn program() -> Option<PathBuf> {
    Some(peers()?.join("python/bin/envoy"))
}

/// `deploy/envoy.yaml`.
pub fn template() -> String {
    fs::read_to_string(repository("deploy/envoy.yaml")).unwrap()
}

impl Envoy {
    /// An Envoy before these replicas, on ports of its own. Returns when it takes calls and has asked every
    /// replica for its health.
    #[track_caller]
    pub fn before(name: &str, replicas: &[&str]) -> Option<Envoy> {
        let program = program()?;
        let config = file(&format!("envoy-{name}.yaml"), config(replicas));
        let mut child = Command::new(program)
            // One thread, and nothing in shared memory that another Envoy would meet.
            .args(["--concurrency", "1", "--use-dynamic-base-id", "-c"])
            .arg(config)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let mut log = log.lines().map(Result::unwrap);
        let admin = log
            .find_map(|line| Some(line.split_once("admin address: ")?.1.trim().to_owned()))
            .unwrap();
        let started = log.any(|line| line.contains("starting workers"));
        assert!(started, "Envoy ended");
        // A log that nobody reads would block it in the end.
        thread::spawn(move || log.for_each(drop));
        let listeners = ask(&admin, "/listeners");
        let (_, address) = listeners.trim().split_once("::").unwrap();
        Some(Envoy {
            child,
            address: address.to_owned(),
            admin,
        })
    }

    /// Waits until Envoy's health checks say so of a replica.
    pub fn wait_until(&self, replica: &str, healthy: bool) {
        while (self.of_replica(replica, "health_flags") == "healthy") != healthy {
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Calls that it has given to a replica.
    pub fn calls(&self, replica: &str) -> u64 {
        self.of_replica(replica, "rq_total").parse().unwrap()
    }

    fn of_replica(&self, replica: &str, field: &str) -> String {
        let clusters = ask(&self.admin, "/clusters");
        let begin = format!("replicas::{replica}::{field}::");
        let value = clusters.lines().find_map(|line| line.strip_prefix(&begin));
        value.unwrap().to_owned()
    }
}

impl Drop for Envoy {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The configuration with these replicas, and free ports in place of its own.
fn config(replicas: &[&str]) -> String {
    let template = template();
    let line = template.lines().find(|line| line.contains(REPLICAS));
    let line = line.unwrap();
    let lines: Vec<String> = replicas
        .iter()
        .map(|replica| {
            let (host, port) = replica.rsplit_once(':').unwrap();
            line.replace(REPLICAS, &format!("address: {host}, port_value: {port}"))
        })
        .collect();
    [
        (line, &*lines.join("\n")),
        (
            "address: 0.0.0.0, port_value: 50050",
            "address: 127.0.0.1, port_value: 0",
        ),
        ("port_value: 9901", "port_value: 0"),
    ]
    .iter()
    .fold(template.clone(), |config, (from, to)| {
        assert!(config.contains(from), "{from} is not in the file");
        config.replace(from, to)
    })
}

/// Whether Envoy takes a configuration, and what it says.
pub fn validate(program: &Path, config: &Path) -> (bool, String) {
    let mut envoy = Command::new(program);
    envoy
        .args(["--mode", "validate", "--log-level", "warning", "-c"])
        .arg(config);
    let output = envoy.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

/// What a page of the administration says.
fn ask(admin: &str, page: &str) -> String {
    let mut stream = TcpStream::connect(admin).unwrap();
    let request = format!("GET {page} HTTP/1.1\r\nhost: envoy\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    joined(body)
}

/// The chunks of an HTTP body as one.
fn joined(mut chunks: &str) -> String {
    let mut body = String::new();
    while let Some((size, rest)) = chunks.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            break;
        }
        body.push_str(&rest[..size]);
        chunks = &rest[size + 2..];
    }
    body
}
