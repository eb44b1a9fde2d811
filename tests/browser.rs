//! The page of `examples/web` in a real browser: built as its README says, served from an origin that the
//! server knows and from one that it does not.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod binary;

use std::{env, path::Path, process::Command};

use binary::{binary, certificates::Folder, pages, peers::peers, repository, run, served::Served};

const TOKEN: &str = "a-token-of-the-browser";

#[test]
fn a_page_in_chromium_solves_boards_and_reads_errors() {
    let Some(peers) = peers() else { return };
    let node = peers.join("node");
    let folder = Folder::new("browser");
    build(&folder, &node);
    let site = folder.path("examples/web/site");
    let (named, other) = (
        pages::serve(Path::new(&site)),
        pages::serve(Path::new(&site)),
    );
    let served = Served::run(
        binary()
            .args(["serve", "--listen", "127.0.0.1:0", "--web-origin", &named])
            .env("SUDOKU_TOKENS", TOKEN),
    );
    let driven = run(
        Command::new("node")
            .arg(repository("tests/clients/browser.mjs"))
            .arg(node)
            .args([&named, &other, &served.url(), TOKEN]),
        "",
    );
    assert!(
        driven.stdout.ends_with("all ok\n"),
        "{}{}",
        driven.stdout,
        driven.stderr
    );
}

/// Does in a copy of the example what its README says.
#[track_caller]
fn build(folder: &Folder, node: &Path) {
    let modules = node.join("node_modules");
    let path = env::var("PATH").unwrap();
    let path = format!("{}:{path}", modules.join(".bin").display());
    let example = folder.path("examples/web");
    let shell = |line: &str, directory: &Path| {
        let mut bash = Command::new("bash");
        bash.args(["-euc", line]).current_dir(directory);
        let done = run(bash.env("PATH", &path).env("NODE_PATH", &modules), "");
        assert_eq!(done.code, Some(0), "{line}: {}", done.stderr);
    };
    let copy = format!(
        "mkdir -p {example} && cp -r proto {0} && cp examples/web/* {example}",
        folder.path("")
    );
    shell(&copy, &repository(""));
    for command in commands() {
        shell(&command, Path::new(&example));
    }
}

/// What the README of the example has between its installation and the start of the server.
fn commands() -> Vec<String> {
    let readme = std::fs::read_to_string(repository("examples/web/README.md")).unwrap();
    let lines = readme
        .lines()
        .filter_map(|line| line.strip_prefix("$ npx "));
    let commands: Vec<String> = lines.map(str::to_owned).collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    commands
}
