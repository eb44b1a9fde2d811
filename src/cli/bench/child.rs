//! This program as a server in a process of its own, whose CPU time is the server's alone.

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Read},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process};
use tokio::sync::oneshot;

use crate::{batch::Level, compression::Encoding};

/// A running `serve` on a free port of the loopback interface. Dropping it ends it.
#[derive(Debug)]
pub(super) struct ChildServer {
    child: Child,
    url: String,
}

impl ChildServer {
    /// Returns when the server listens: its log says on which port.
    pub(super) async fn start(
        level: Level,
        compression: Option<Encoding>,
    ) -> anyhow::Result<ChildServer> {
        let context = "cannot start the server to measure";
        let compression = compression.map(|encoding| ["--compression", encoding.name()]);
        let child = Command::new(env::current_exe().context(context)?)
            .args(["serve", "--listen", "127.0.0.1:0", "--log-format", "json"])
            .args(["--grace", "1s", "--cpu-level", level.name()])
            .args(compression.iter().flatten())
            // The line with the port is one of level info.
            .env("RUST_LOG", "info")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context(context)?;
        let mut server = ChildServer {
            child,
            url: String::new(),
        };
        let log = server.child.stderr.take().context(context)?;
        let (found, url) = oneshot::channel();
        thread::Builder::new()
            .name("server log".to_owned())
            .spawn(move || follow(log, found))
            .context(context)?;
        let url = url.await.context(context)?;
        server.url = url.map_err(|log| anyhow::anyhow!("{context}: {log}"))?;
        Ok(server)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// CPU time of all its threads, in the kernel too; `None` where the system does not tell.
    pub(super) fn cpu_time(&self) -> Option<Duration> {
        // Not `/proc/<pid>/stat`, which counts in hundredths of a second. The threads of a server
        // live as long as it does, so none takes its time away with it.
        let threads = fs::read_dir(format!("/proc/{}/task", self.child.id())).ok()?;
        threads
            .map(|thread| {
                let text = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
                let nanos = text.split_ascii_whitespace().next()?.parse().ok()?;
                Some(Duration::from_nanos(nanos))
            })
            .sum()
    }
}

impl Drop for ChildServer {
    fn drop(&mut self) {
        // Not waited for before this, so the number is still its own.
        if kill_process(Pid::from_child(&self.child), Signal::TERM).is_err() {
            drop(self.child.kill());
        }
        drop(self.child.wait());
    }
}

/// Finds the URL in the log, or sends what the server said instead; then reads on, as a log that
/// nobody reads would block the server in the end.
fn follow(log: impl Read, found: oneshot::Sender<Result<String, String>>) {
    let mut said = String::new();
    let mut lines = BufReader::new(log).lines().map_while(Result::ok);
    let url = lines.by_ref().find_map(|line| {
        let url = url(&line);
        said = line;
        url
    });
    drop(found.send(url.ok_or(said)));
    lines.for_each(drop);
}

/// The URL in the line that says where the server listens.
fn url(line: &str) -> Option<String> {
    let event: serde_json::Value = serde_json::from_str(line).ok()?;
    let fields = event.get("fields")?;
    let address = fields.get("address")?.as_str()?;
    let scheme = if fields.get("tls")?.as_bool()? {
        "https"
    } else {
        "http"
    };
    Some(format!("{scheme}://{address}"))
}
