//! `deploy/Dockerfile`, as far as it can be checked where no container can run: what it says, that the build has
//! all it needs, and that the program, all by itself in a folder that cannot be written, does its work.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a failed unwrap is a failed test, and what was skipped must be said"
)]

mod binary;

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, ExitStatus},
};

use binary::{
    Run, as_in_a_shell,
    boards::{GRID, UNIQUE},
    certificates::{Authority, Folder},
    image::image,
    peers::peers,
    repository, run,
    served::Served,
    solve,
};
use sudoku_solver::wire::pb::{SolveRequest, sudoku_solver_client::SudokuSolverClient};
use tonic::transport::Endpoint;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

#[track_caller]
fn read(path: &str) -> String {
    fs::read_to_string(repository(path)).unwrap()
}

/// An instruction of a Dockerfile, such as `COPY`, and what follows it.
type Instruction = (String, String);

/// One a line: lines that go on are joined, comments left out.
fn instructions(dockerfile: &str) -> Vec<Instruction> {
    let lines = dockerfile.lines().filter(|line| !line.starts_with('#'));
    let joined = lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
    let written = joined.lines().filter(|line| !line.is_empty());
    written
        .map(|line| line.split_once(' ').unwrap())
        .map(|(name, rest)| (name.to_owned(), rest.trim().to_owned()))
        .collect()
}

fn dockerfile() -> Vec<Instruction> {
    instructions(&read("deploy/Dockerfile"))
}

/// What the build copies out of the repository, and whereto.
fn copied(all: &[Instruction]) -> Vec<(String, String)> {
    all.iter()
        .filter(|(name, rest)| name == "COPY" && !rest.starts_with("--"))
        .flat_map(|(_, rest)| {
            let (paths, to) = rest.rsplit_once(' ').unwrap();
            paths
                .split(' ')
                .map(|path| (path.to_owned(), to.to_owned()))
        })
        .collect()
}

#[test]
fn a_linter_finds_no_fault_with_the_dockerfile() {
    let Some(peers) = peers() else { return };
    let lint = |text: &str| {
        run(
            Command::new(peers.join("python/bin/hadolint")).arg("-"),
            text,
        )
    };
    let text = read("deploy/Dockerfile");
    let linted = lint(&text);
    assert_eq!((linted.code, linted.stdout.as_str()), (Some(0), ""));
    let root = lint(&text.replace("\nUSER 65532:65532\n", "\nUSER root\n"));
    assert_ne!(root.code, Some(0), "it finds nothing");
}

#[test]
fn the_image_is_what_it_promises_to_be() {
    let all = dockerfile();
    let last = all.iter().rposition(|(name, _)| name == "FROM").unwrap();
    let (first_stage, image) = all.split_at(last);
    let of = |name: &str| -> Vec<&str> {
        let found = image.iter().filter(|(found, _)| found == name);
        found.map(|(_, rest)| rest.as_str()).collect()
    };
    assert_eq!(of("FROM"), ["scratch"]);
    assert_eq!(of("RUN"), [""; 0], "there is nothing that could run it");
    assert_eq!(of("STOPSIGNAL"), ["SIGTERM"]);
    assert_eq!(of("ENTRYPOINT"), [r#"["/sudoku-solver"]"#]);
    assert!(all.iter().all(|(name, _)| name != "ADD"));

    // That of the manifests, which want it to be a number and not 0.
    let manifest = read("deploy/kubernetes/base/deployment.yaml");
    let [user] = of("USER")[..] else {
        unreachable!("one user")
    };
    let (user, group) = user.split_once(':').unwrap();
    assert!(user.parse::<u32>().unwrap() > 0 && group.parse::<u32>().unwrap() > 0);
    assert!(manifest.contains(&format!("runAsUser: {user}\n")));
    assert!(manifest.contains(&format!("runAsGroup: {group}\n")));

    let [port] = of("EXPOSE")[..] else {
        unreachable!("one port")
    };
    assert_eq!(of("ENV"), [format!("SUDOKU_LISTEN=0.0.0.0:{port}")]);

    let version = env!("CARGO_PKG_VERSION");
    let label = format!("image.version=\"{version}\"");
    assert!(of("LABEL")[0].contains(&label), "the label has not {label}");
    assert!(read("deploy/Dockerfile").contains(&format!("sudoku-solver:{version} ")));

    // What one stage puts somewhere, the other takes from there.
    let built = "deploy/build-static.sh /out/sudoku-solver";
    assert!(first_stage.last().unwrap().1.ends_with(built));
    let from_build = "--from=build /out/sudoku-solver /sudoku-solver";
    assert!(of("COPY").contains(&from_build));
}

#[test]
fn the_toolchain_is_one_that_the_package_takes() {
    let manifest = read("Cargo.toml");
    let needed = manifest
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = "));
    let needed = needed.unwrap().trim_matches('"');
    let from = format!("rust:{needed}-slim-bookworm AS build");
    assert!(
        dockerfile().contains(&("FROM".to_owned(), from.clone())),
        "{from}"
    );
}

/// Where a build has nothing but what the Dockerfile copies, and dependencies that are built already. The names of what is ignored stand for themselves:
/// all that is copied is let through, and nothing else.
#[test]
fn the_build_has_all_that_it_needs() {
    let folder = Folder::new("image-context");
    let mut copied = copied(&dockerfile());
    assert!(copied.len() > 3, "{copied:?}");
    for (path, to) in &copied {
        let to = folder.path(to.trim_start_matches("./"));
        if to.ends_with('/') {
            fs::create_dir_all(&to).unwrap();
        }
        let mut copy = Command::new("cp");
        let copy = copy.arg("-r").arg(repository(path)).arg(&to);
        assert!(copy.status().unwrap().success(), "{path}");
    }
    let mut check = Command::new(env!("CARGO"));
    check
        .args(["check", "--quiet", "--locked", "--offline"])
        .current_dir(folder.path(""))
        .env("CARGO_TARGET_DIR", folder.path("../.."));
    as_in_a_shell(&mut check);
    let checked = run(&mut check, "");
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);

    let ignored = read("deploy/Dockerfile.dockerignore");
    let mut let_through: Vec<&str> = ignored
        .lines()
        .filter_map(|line| line.strip_prefix('!'))
        .collect();
    assert!(ignored.lines().any(|line| line == "*"));
    copied.sort();
    let_through.sort_unstable();
    let paths: Vec<&str> = copied.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(let_through, paths);
}

#[test]
fn the_program_is_linked_with_nothing() {
    let Some(image) = image() else { return };
    let read = |flag: &str| run(Command::new("readelf").arg(flag).arg(&image), "").stdout;
    let segments = read("--program-headers");
    assert!(segments.contains("LOAD"), "{segments}");
    assert!(!segments.contains("INTERP"), "{segments}");
    assert!(!read("--dynamic").contains("NEEDED"), "it needs a library");
    let other = env!("CARGO_BIN_EXE_sudoku-solver");
    let other = run(Command::new("readelf").arg("-lW").arg(other), "").stdout;
    assert!(other.contains("INTERP"), "it finds nothing");
}

/// A root directory with the program in it, and what a test puts there, for a user who can write none of it.
struct Root(Folder);

/// Into the root, which is mounted anew so that not even root could write to it.
const ENTER: &str = r#"
    mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 99
    root=$1; shift; exec chroot --userspec=65532:65532 "$root" /sudoku-solver "$@"
"#;

impl Root {
    /// `None`, said aloud, where there is no program, or no right to do this.
    #[track_caller]
    fn new(name: &str) -> Option<Root> {
        let image = image()?;
        let id = run(Command::new("id").arg("-u"), "").stdout;
        if id.trim() != "0" {
            println!("skipped: only root may change the root directory");
            return None;
        }
        let folder = Folder::new(name);
        fs::copy(image, folder.path("sudoku-solver")).unwrap();
        Some(Root(folder))
    }

    /// Lets the user of the image read it.
    #[track_caller]
    fn put(&self, path: &str, content: &str) {
        let to = self.0.path(path);
        fs::create_dir_all(Path::new(&to).parent().unwrap()).unwrap();
        self.0.write(path, content);
        fs::set_permissions(&to, fs::Permissions::from_mode(0o444)).unwrap();
    }

    fn enter(&self, args: &[&str]) -> Command {
        let mut command = Command::new("unshare");
        command
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        let enter = ["--mount", "sh", "-c", ENTER, "enter", &self.0.path("")];
        command.args(enter).args(args);
        command
    }

    #[track_caller]
    fn serve(&self, args: &[&str]) -> Served {
        let serve = [&["serve", "--listen", "127.0.0.1:0"], args].concat();
        Served::run(&mut self.enter(&serve))
    }
}

#[track_caller]
fn assert_solved(run: &Run) {
    let solved = format!("{GRID}\n");
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (Some(0), solved.as_str()),
        "{}",
        run.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn in_an_empty_root_the_server_does_all_its_work() {
    let Some(root) = Root::new("empty-root") else {
        return;
    };
    let served = root.serve(&["--metrics-listen", "127.0.0.1:0"]);
    let channel = Endpoint::new(served.url())
        .unwrap()
        .connect()
        .await
        .unwrap();
    let request = SolveRequest {
        board: UNIQUE.to_owned(),
        ..SolveRequest::default()
    };
    let mut client = SudokuSolverClient::new(channel.clone());
    let answer = client.solve(request).await.unwrap().into_inner();
    assert_eq!(answer.result.unwrap().solutions, [GRID]);

    assert_solved(&solve(&["--server", &served.url()], UNIQUE));

    let service = "sudoku.v1.SudokuSolver".to_owned();
    let mut health = HealthClient::new(channel);
    let asked = health.check(HealthCheckRequest { service });
    assert_eq!(
        asked.await.unwrap().into_inner().status(),
        ServingStatus::Serving
    );

    let probed = run(
        &mut root.enter(&["health", "--server", &served.address]),
        "",
    );
    assert_eq!(probed.code, Some(0), "{}", probed.stderr);

    let line: serde_json::Value =
        serde_json::from_str(&served.line_with("metrics_address")).unwrap();
    let address = line["fields"]["metrics_address"].as_str().unwrap();
    let mut scrape = TcpStream::connect(address).unwrap();
    scrape
        .write_all(b"GET /metrics HTTP/1.1\r\nhost: metrics\r\n\r\n")
        .unwrap();
    let mut metrics = String::new();
    scrape.read_to_string(&mut metrics).unwrap();
    assert!(metrics.contains("sudoku_requests_total{"), "{metrics}");

    let owner = run(
        Command::new("stat").args(["-c", "%u:%g", &proc(&served)]),
        "",
    )
    .stdout;
    assert_eq!(owner, "65532:65532\n");
    assert_drained(served.terminated());
}

fn proc(served: &Served) -> String {
    format!("/proc/{}", served.child.id())
}

#[track_caller]
fn assert_drained(status: ExitStatus) {
    assert_eq!(status.code(), Some(0), "{status}");
}

#[test]
fn in_an_empty_root_the_server_speaks_tls_and_asks_for_tokens() {
    let Some(root) = Root::new("root-with-secrets") else {
        return;
    };
    let authority = Authority::new();
    let pair = authority.certify();
    root.put("secrets/cert.pem", &pair.cert);
    root.put("secrets/key.pem", &pair.key);
    root.put("secrets/tokens", "let-me-in\n");
    let ca = root.0.write("ca.pem", &authority.pem);
    let served = root.serve(&[
        "--tls-cert=/secrets/cert.pem",
        "--tls-key=/secrets/key.pem",
        "--token-file=/secrets/tokens",
    ]);
    let token = root.0.write("token", "let-me-in\n");
    let url = format!("https://{}", served.address);
    let with = ["--server", &url, "--tls-ca", &ca, "--token-file", &token];
    assert_solved(&solve(&with, UNIQUE));
    assert_eq!(solve(&with[..4], UNIQUE).code, Some(3));
    assert_drained(served.terminated());
}

/// Its C library is linked into it, and still finds what an engine puts into a container: the file of hosts.
#[test]
fn in_an_empty_root_the_client_resolves_names() {
    let Some(root) = Root::new("root-with-hosts") else {
        return;
    };
    root.put("etc/hosts", "127.0.0.1 solver.example\n");
    let served = Served::start();
    let port = served.address.rsplit_once(':').unwrap().1;
    let url = format!("http://solver.example:{port}");
    let with = ["solve", "--server", &url, "--retry-for", "1s"];
    assert_solved(&run(&mut root.enter(&with), UNIQUE));
}
