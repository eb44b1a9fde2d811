//! `deploy/sudoku-solver.service`: valid, with little left that a break-in could use, and in keeping with what the
//! program needs. systemd itself does not run where the checks run: what it would forbid is looked for among the
//! system calls of a real server.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a failed unwrap is a failed test, and what was skipped must be said"
)]

mod binary;

use std::{
    collections::BTreeSet,
    env, fs,
    process::{Command, Stdio},
    time::Duration,
};

use binary::{
    Run, binary,
    boards::{GRID, UNIQUE},
    certificates::{Authority, Folder},
    repository, run,
    served::Served,
    solve,
};
use sudoku_solver::{limits, server::Config};

const UNIT: &str = "deploy/sudoku-solver.service";

fn unit() -> String {
    fs::read_to_string(repository(UNIT)).unwrap()
}

/// The values of a key, in their order.
fn values<'a>(unit: &'a str, key: &str) -> Vec<&'a str> {
    let lines = unit.lines().filter_map(|line| line.split_once('='));
    lines
        .filter(|(name, _)| *name == key)
        .map(|(_, value)| value)
        .collect()
}

#[track_caller]
fn value<'a>(unit: &'a str, key: &str) -> &'a str {
    let [value] = values(unit, key)[..] else {
        unreachable!("one {key}")
    };
    value
}

/// Whether a program is there. Where `tests/all.sh` runs it must be.
#[track_caller]
fn has(program: &str) -> bool {
    let found = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    let found = found.is_ok_and(|status| status.success());
    if !found {
        println!("skipped: there is no {program}");
        assert!(env::var_os("SUDOKU_PEERS").is_none(), "no {program}");
    }
    found
}

/// What `systemd-analyze` says of a unit whose program is this one.
#[track_caller]
fn analyze(args: &[&str], folder: &str, unit: &str) -> Run {
    let folder = Folder::new(folder);
    let program = env!("CARGO_BIN_EXE_sudoku-solver");
    let unit = unit.replace("/usr/local/bin/sudoku-solver", program);
    let path = folder.write("sudoku-solver.service", &unit);
    run(Command::new("systemd-analyze").args(args).arg(path), "")
}

#[test]
fn the_unit_is_valid() {
    if !has("systemd-analyze") {
        return;
    }
    let verify = |name, unit: &str| {
        let verified = analyze(&["verify", "--man=no"], name, unit);
        // What it does not know it only warns of.
        (
            verified.code == Some(0) && verified.stderr.is_empty(),
            verified.stderr,
        )
    };
    let unit = unit();
    assert_eq!(verify("unit", &unit), (true, String::new()));

    let secrets = unit
        .replace("#LoadCredential=", "LoadCredential=")
        .replace("#Environment=", "Environment=");
    assert_eq!(values(&secrets, "LoadCredential").len(), 3);
    assert_eq!(verify("unit-secrets", &secrets), (true, String::new()));

    let misspelt = unit.replace("ProtectHome=", "ProtectHouse=");
    assert!(!verify("unit-misspelt", &misspelt).0, "it finds nothing");
}

/// Of 10. Most of what is left is that it speaks TCP, which is its purpose.
#[test]
fn the_unit_leaves_little_open() {
    if !has("systemd-analyze") {
        return;
    }
    // In tenths.
    let threshold = ["security", "--offline=true", "--no-pager", "--threshold=12"];
    let unit = unit();
    let rated = analyze(&threshold, "unit-rated", &unit);
    assert_eq!(rated.code, Some(0), "{}{}", rated.stdout, rated.stderr);
    let open = unit.replace("RestrictNamespaces=yes", "");
    let open = analyze(&threshold, "unit-open", &open);
    assert_ne!(open.code, Some(0), "it finds nothing: {}", open.stdout);
}

#[test]
fn the_unit_fits_the_program() {
    let unit = unit();
    assert_eq!(value(&unit, "RestartPreventExitStatus"), "2");

    let until_killed = humantime::parse_duration(value(&unit, "TimeoutStopSec")).unwrap();
    let drain = limits::GRACE + limits::LINGER;
    assert!(
        until_killed > drain + Duration::from_secs(1),
        "{until_killed:?}"
    );

    let files: usize = value(&unit, "LimitNOFILE").parse().unwrap();
    let connections = Config::default().connection.connections_max;
    assert!(files > connections + 256, "{files} files");

    let help = run(binary().args(["serve", "--help"]), "").stdout;
    let words = unit.split(['=', ' ', '\n']);
    let variables: Vec<&str> = words.filter(|word| word.starts_with("SUDOKU_")).collect();
    assert!(variables.len() > 3, "{variables:?}");
    for name in variables {
        assert!(
            help.contains(&format!("[env: {name}=")),
            "serve has no {name}"
        );
    }
}

/// By its own list, which names groups of calls within groups.
#[track_caller]
fn calls_of(group: &str) -> BTreeSet<String> {
    let listed = run(
        Command::new("systemd-analyze").args(["syscall-filter", group]),
        "",
    );
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    let lines = listed.stdout.lines().map(str::trim);
    let mut calls = BTreeSet::new();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#') && *line != group) {
        if line.starts_with('@') {
            calls.append(&mut calls_of(line));
        } else {
            calls.insert(line.to_owned());
        }
    }
    calls
}

/// What `SystemCallFilter=` leaves.
#[track_caller]
fn allowed(unit: &str) -> BTreeSet<String> {
    let mut allowed = BTreeSet::new();
    for filter in values(unit, "SystemCallFilter") {
        let forbids = filter.starts_with('~');
        for group in filter.trim_start_matches('~').split(' ') {
            let calls = calls_of(group);
            if forbids {
                allowed.retain(|call| !calls.contains(call));
            } else {
                allowed.extend(calls);
            }
        }
    }
    allowed
}

/// All system calls of a server with everything on, from its start to the end of its drain.
#[track_caller]
fn traced(folder: &Folder) -> String {
    let trace = folder.path("trace");
    let authority = Authority::new();
    let pair = folder.write_pair(&authority.certify());
    let ca = folder.write("ca.pem", &authority.pem);
    let token = folder.write("token", "let-me-in\n");
    // strace passes no signal on, but the program has a number of its own.
    let binary = binary();
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-qq", "-o", &trace])
        .arg(binary.get_program())
        .args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--metrics-listen",
            "127.0.0.1:0",
        ])
        .args([
            "--token-file",
            &token,
            "--otlp-endpoint",
            "http://127.0.0.1:9",
        ])
        .args(["--otlp-sample", "1"])
        .args(&pair);
    let mut served = Served::run(&mut strace);
    let line: serde_json::Value =
        serde_json::from_str(&served.line_with("metrics_address")).unwrap();
    let metrics = line["fields"]["metrics_address"].as_str().unwrap();
    let url = format!("https://{}", served.address);
    let with = ["--server", &url, "--tls-ca", &ca, "--token-file", &token];
    let solved = solve(&with, UNIQUE);
    assert_eq!(solved.stdout, format!("{GRID}\n"), "{}", solved.stderr);
    let scrape = b"GET /metrics HTTP/1.1\r\nhost: metrics\r\n\r\n";
    let mut stream = std::net::TcpStream::connect(metrics).unwrap();
    std::io::Write::write_all(&mut stream, scrape).unwrap();
    std::io::copy(&mut stream, &mut std::io::sink()).unwrap();

    let id = served.child.id();
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
    for signal in ["HUP", "TERM"] {
        let mut kill = Command::new("kill");
        assert!(
            kill.args(["-s", signal, children.trim()])
                .status()
                .unwrap()
                .success()
        );
    }
    assert!(served.child.wait().unwrap().success());
    fs::read_to_string(trace).unwrap()
}

/// The number, the name and the rest of each call that was begun.
fn calls(trace: &str) -> impl Iterator<Item = (&str, &str)> {
    trace
        .lines()
        .filter_map(|line| line.split_once(' ')?.1.trim_start().split_once('('))
        .filter(|(name, _)| {
            name.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
}

#[test]
fn the_program_does_nothing_that_the_unit_forbids() {
    if !has("systemd-analyze") || !has("strace") {
        return;
    }
    let unit = unit();
    let allowed = allowed(&unit);
    assert!(allowed.contains("accept4") && !allowed.contains("reboot"));
    let families = value(&unit, "RestrictAddressFamilies");
    let trace = traced(&Folder::new("traced"));
    let mut seen = BTreeSet::new();
    for (name, rest) in calls(&trace) {
        seen.insert(name);
        let family = rest.split(',').next().unwrap();
        assert!(
            name != "socket" || families.split(' ').any(|one| one == family),
            "{rest}"
        );
        let wx = rest.contains("PROT_WRITE") && rest.contains("PROT_EXEC");
        let made_executable = name == "mprotect" && rest.contains("PROT_EXEC");
        assert!(!wx && !made_executable, "{name}({rest}");
    }
    for call in ["accept4", "socket", "openat", "clone3"] {
        assert!(seen.contains(call), "the trace has no {call}: {seen:?}");
    }
    let forbidden: Vec<_> = seen
        .iter()
        .filter(|call| !allowed.contains(**call))
        .collect();
    assert_eq!(forbidden, Vec::<&&str>::new());
}

/// So that a root file system may be read-only, in a container and under systemd.
#[test]
fn the_program_writes_no_file() {
    if !has("strace") {
        return;
    }
    let trace = traced(&Folder::new("traced-files"));
    let mut opened = 0;
    for (name, rest) in calls(&trace) {
        if name.starts_with("open") {
            opened += 1;
            for flag in ["O_WRONLY", "O_RDWR", "O_CREAT"] {
                assert!(!rest.contains(flag), "{name}({rest}");
            }
        }
        for change in [
            "creat", "mkdir", "mknod", "unlink", "rename", "link", "symlink", "truncate", "chmod",
        ] {
            assert!(
                !name.trim_start_matches('f').starts_with(change),
                "{name}({rest}"
            );
        }
    }
    assert!(opened > 3, "it has opened {opened} files");
}

/// What `systemctl reload` does to a server that has no files to read again.
#[test]
fn a_reload_of_a_server_without_secrets_does_it_no_harm() {
    assert_eq!(value(&unit(), "ExecReload"), "/bin/kill -HUP $MAINPID");
    let mut served = Served::start();
    served.signal("HUP");
    served.line_with("there are no certificates or tokens to read again");
    let solved = solve(&["--server", &served.url()], UNIQUE);
    assert_eq!(solved.stdout, format!("{GRID}\n"), "{}", solved.stderr);
    served.end();
}
