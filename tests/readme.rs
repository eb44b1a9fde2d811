//! The README's commands, run as they stand there, and their answers compared with what it shows.
//!
//! Blocks marked `console` hold commands after `$ ` and what they print; `python` and `js` blocks
//! are run as scripts. In what is compared, `...` alone on a line stands for any lines, and times
//! and rates count as equal. The README's port is exchanged for a free one.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a failed unwrap is a failed test, and a failed one shows how far it came"
)]

mod binary;

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};

use binary::{as_in_a_shell, image, peers::peers, repository, run};

const PORT: &str = "127.0.0.1:50051";

/// What is running these checks; to run it from here would never end.
const ALL: &str = "tests/all.sh";

#[test]
fn every_command_of_the_readme_does_what_it_says() {
    let Some(peers) = peers() else { return };
    let text = fs::read_to_string(repository("README.md")).unwrap();
    let mut reader = Reader::new(&peers);
    let mut ran = Vec::new();
    for block in blocks(&text) {
        ran.push(block.language);
        match block.language {
            "console" => block
                .commands()
                .iter()
                .for_each(|command| reader.enter(command)),
            "python" => reader.script("python", &peers.join("readme.py"), block.text),
            "js" => reader.script("node", &peers.join("node/readme.cjs"), block.text),
            "go" | "text" => {}
            other => unreachable!("no way is known to check a block of {other:?}"),
        }
    }
    assert!(
        ["console", "python", "js"]
            .iter()
            .all(|language| ran.contains(language)),
        "{ran:?}"
    );
    reader.stop_server();
}

#[test]
fn the_readme_tells_of_every_flag_of_the_server() {
    let text = fs::read_to_string(repository("README.md")).unwrap();
    let help = run(binary::binary().args(["serve", "--help"]), "").stdout;
    let flags: Vec<&str> = help
        .split_whitespace()
        .map(|word| word.trim_start_matches("[env:"))
        .filter(|word| word.starts_with("--") && *word != "--help" || word.starts_with("SUDOKU_"))
        .map(|word| word.trim_end_matches("=]"))
        .collect();
    assert!(flags.len() > 10, "{flags:?}");
    for flag in flags {
        assert!(
            text.contains(&format!("`{flag}`")),
            "README.md does not tell of {flag}"
        );
    }
}

struct Block<'a> {
    language: &'a str,
    text: &'a str,
}

/// A command and what is said to come of it.
struct Example {
    command: String,
    expected: Vec<String>,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut parts = text.split("\n```");
    parts.next();
    let mut blocks = Vec::new();
    while let Some(block) = parts.next() {
        let (language, text) = block.split_once('\n').unwrap();
        blocks.push(Block { language, text });
        parts.next();
    }
    blocks
}

impl Block<'_> {
    fn commands(&self) -> Vec<Example> {
        let mut examples: Vec<Example> = Vec::new();
        let mut lines = self.text.lines();
        while let Some(line) = lines.next() {
            if let Some(first) = line.strip_prefix("$ ") {
                let mut command = first.to_owned();
                while command.ends_with(['\\', '|']) {
                    command = command + "\n" + lines.next().unwrap();
                }
                examples.push(Example {
                    command,
                    expected: Vec::new(),
                });
            } else {
                examples.last_mut().unwrap().expected.push(line.to_owned());
            }
        }
        examples
    }
}

/// Someone who follows the README.
struct Reader {
    address: String,
    path: String,
    server: Option<Child>,
}

impl Reader {
    fn new(peers: &Path) -> Reader {
        // Free now, and most likely a moment later, when the server wants it.
        let free = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let path = format!(
            "{}:{}",
            peers.join("python/bin").display(),
            env::var("PATH").unwrap()
        );
        Reader {
            address: free.to_string(),
            path,
            server: None,
        }
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(repository(""))
            .env("PATH", &self.path)
            .env("PYTHONPATH", "target/python")
            .env("SUDOKU_LISTEN", &self.address)
            .env_remove("RUST_LOG");
        as_in_a_shell(&mut command);
        command.envs(image::built_with());
        command
    }

    #[track_caller]
    fn enter(&mut self, example: &Example) {
        let line = example.command.replace(PORT, &self.address);
        println!("$ {line}");
        if line == ALL {
            return;
        }
        if line.ends_with("-- serve") {
            return self.start_server(&line);
        }
        let done = run(self.command("bash").args(["-c", &line]), "");
        println!("{}{}", done.stdout, done.stderr);
        if example.expected.is_empty() {
            assert_eq!(done.code, Some(0), "{line}");
        } else {
            // Of standard error the summary alone: the rest is what cargo says of its builds.
            let summary = done
                .stderr
                .lines()
                .filter(|line| line.contains(" boards a second: "));
            let got: Vec<String> = done.stdout.lines().chain(summary).map(mask).collect();
            let expected: Vec<String> = example.expected.iter().map(|line| mask(line)).collect();
            assert!(
                matches(&expected, &got),
                "{line}\nprints\n{}",
                got.join("\n")
            );
        }
    }

    fn start_server(&mut self, line: &str) {
        assert!(self.server.is_none());
        let mut shell = self.command("bash");
        let mut server = shell
            .args(["-c", &format!("exec {line}")])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(server.stderr.take().unwrap()).lines();
        assert!(
            log.any(|line| line.unwrap().contains("listening")),
            "it never listened"
        );
        thread::spawn(move || log.for_each(drop));
        self.server = Some(server);
    }

    /// As an orchestrator would: SIGTERM, and the server exits with 0.
    fn stop_server(mut self) {
        let mut server = self.server.take().unwrap();
        let pid = server.id().to_string();
        assert!(Command::new("kill").arg(pid).status().unwrap().success());
        assert!(server.wait().unwrap().success());
    }

    #[track_caller]
    fn script(&self, program: &str, path: &PathBuf, text: &str) {
        fs::write(path, text.replace(PORT, &self.address)).unwrap();
        println!("{program} {}", path.display());
        let done = run(self.command(program).arg(path), "");
        println!("{}{}", done.stdout, done.stderr);
        assert_eq!(done.code, Some(0), "the {program} client failed");
        assert!(done.stdout.contains("UNIQUE"), "{}", done.stdout);
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            drop(server.kill());
        }
    }
}

/// The line without what differs from run to run.
fn mask(line: &str) -> String {
    const NANOS: &str = "\"solve_time_nanos\":";
    if let Some((name, _)) = line.split_once("\"solveTime\"") {
        return format!("{name}TIME");
    }
    if let Some((boards, rest)) = line.split_once(" in ")
        && let Some((_, statuses)) = rest.split_once(" boards a second: ")
    {
        return format!("{boards} in TIME: {statuses}");
    }
    if let Some((start, rest)) = line.split_once(NANOS) {
        return format!(
            "{start}{NANOS}{}",
            rest.trim_start_matches(|c: char| c.is_ascii_digit())
        );
    }
    line.to_owned()
}

/// Whether the lines are those expected, where `...` stands for any number of them.
fn matches(expected: &[String], got: &[String]) -> bool {
    match expected.split_first() {
        None => got.is_empty(),
        Some((dots, rest)) if dots == "..." => (0..=got.len()).any(|n| matches(rest, &got[n..])),
        Some((line, rest)) => got
            .split_first()
            .is_some_and(|(first, others)| first == line && matches(rest, others)),
    }
}
