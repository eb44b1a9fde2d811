//! Settings of the real binary: where they come from, what is printed of them, and wrong ones.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod binary;

use std::{collections::BTreeMap, fs, net::TcpListener};

use binary::{
    Run, binary,
    boards::{EMPTY, UNIQUE},
    certificates::Folder,
    repository, run,
    served::Served,
    solve,
};

const EXAMPLE: &str = "deploy/sudoku-solver.toml";

#[track_caller]
fn printed(args: &[&str], environment: &[(&str, &str)]) -> String {
    let mut command = binary();
    command.args(["serve", "--print-config"]).args(args);
    let run = run(command.envs(environment.iter().copied()), "");
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    run.stdout
}

/// Value and source of each setting that is set.
#[track_caller]
fn settings(printed: &str) -> BTreeMap<String, (String, String)> {
    let lines = printed
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let (key, rest) = line.split_once(" = ").unwrap();
            let (value, source) = rest.rsplit_once(" # ").unwrap();
            (key.to_owned(), (value.to_owned(), source.to_owned()))
        })
        .collect()
}

#[track_caller]
fn assert_setting(printed: &str, key: &str, value: &str, source: &str) {
    let expected = (value.to_owned(), source.to_owned());
    assert_eq!(settings(printed).get(key), Some(&expected), "{printed}");
}

#[test]
fn a_flag_wins_over_the_environment_and_that_over_the_file() {
    let folder = Folder::new("precedence");
    let file = folder.write(
        "settings.toml",
        "# of a test\ngrace = \"3s\"\nworkers = 3\n",
    );
    let config = ["--config", file.as_str()];
    let environment = [("SUDOKU_GRACE", "2s")];
    let grace = |args: &[&str], environment: &[(&str, &str)], value: &str, source: &str| {
        assert_setting(&printed(args, environment), "grace", value, source);
    };
    grace(&[], &[], "\"30s\"", "default");
    grace(&config, &[], "\"3s\"", "file, line 2");
    grace(&config, &environment, "\"2s\"", "environment SUDOKU_GRACE");
    let flag = [&config[..], &["--grace", "1s"]].concat();
    grace(&flag, &environment, "\"1s\"", "flag --grace");
    // One that has no default of its own.
    assert_setting(&printed(&config, &[]), "workers", "3", "file, line 3");
    assert!(printed(&[], &[]).contains("# workers is not set"));
    // The file itself may come from the environment.
    let by_environment = printed(&[], &[("SUDOKU_CONFIG", &file)]);
    assert_setting(&by_environment, "workers", "3", "file, line 3");
    assert!(by_environment.contains("(environment SUDOKU_CONFIG)"));
}

#[test]
fn what_is_printed_can_be_read_again() {
    let args = [
        "--listen=[::1]:7",
        "--workers=3",
        "--tls-cert=a \"quoted\"\\path",
        "--deadline-max=1m 30s",
        "--reflection=false",
        "--compression=zstd,gzip",
        "--log-format=json",
    ];
    let first = printed(&args, &[]);
    let file = Folder::new("round-trip").write("settings.toml", &first);
    let second = printed(&["--config", &file], &[]);
    let values = |printed: &str| -> BTreeMap<String, String> {
        let all = settings(printed).into_iter();
        all.map(|(key, (value, _))| (key, value)).collect()
    };
    assert_eq!(values(&first), values(&second));
    for (key, (_, source)) in settings(&second) {
        assert!(source.starts_with("file, line "), "{key}: {source}");
    }
}

#[test]
fn the_example_is_what_a_server_does_without_any() {
    let example = fs::read_to_string(repository(EXAMPLE)).unwrap();
    assert_eq!(
        example,
        printed(&[], &[]),
        "make it anew: sudoku-solver serve --print-config >{EXAMPLE}"
    );
    let path = repository(EXAMPLE);
    let read = printed(&["--config", path.to_str().unwrap()], &[]);
    let (read, example) = (settings(&read), settings(&example));
    assert_eq!(read.len(), example.len());
    for (key, (value, source)) in read {
        assert!(source.starts_with("file, line "), "{key}: {source}");
        assert_eq!(value, example[&key].0, "{key}");
    }
}

#[test]
fn each_flag_has_a_variable_of_its_name() {
    let help = run(binary().args(["serve", "--help"]), "").stdout;
    let mut words = help.split_whitespace().peekable();
    let mut flags = Vec::new();
    let mut variables = Vec::new();
    while let Some(word) = words.next() {
        if let Some(name) = word.strip_prefix("[env:") {
            variables.push(if name.is_empty() {
                words.next().unwrap()
            } else {
                name
            });
        } else if word.starts_with("--") && words.peek().is_some_and(|next| next.starts_with('<')) {
            flags.push(word);
        }
    }
    assert!(flags.len() > 30, "{flags:?}");
    for flag in flags {
        let name = flag
            .trim_start_matches('-')
            .replace('-', "_")
            .to_uppercase();
        let name = format!("SUDOKU_{name}=");
        let found = variables
            .iter()
            .any(|variable| variable.trim_end_matches(']') == name);
        assert!(found, "{flag} has no variable {name}: {variables:?}");
    }
}

/// The start ends with one line that holds these texts.
#[track_caller]
fn assert_wrong(run: &Run, texts: &[&str]) {
    run.assert_failed(2, texts);
    assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
}

#[test]
fn a_wrong_file_ends_the_start() {
    let folder = Folder::new("wrong");
    let cases: &[(&str, &[&str])] = &[
        (
            "\n\nlisten = \"nowhere\"\n",
            &["line 3", "listen", "nowhere"],
        ),
        ("workers = 0\n", &["line 1", "workers", "0"]),
        ("workers = 2.5\n", &["line 1", "workers", "found float"]),
        ("workers = [2]\n", &["line 1", "workers", "found array"]),
        (
            "[serve]\nworkers = 2\n",
            &["line 1", "serve", "no such setting"],
        ),
        (
            "log-format = \"xml\"\n",
            &["line 1", "log-format", "text, json"],
        ),
        (
            "reflection = \"maybe\"\n",
            &["line 1", "reflection", "maybe"],
        ),
        (
            "message_bytes_max = 5\n",
            &["line 1", "it is called message-bytes-max"],
        ),
        (
            "listn = \"127.0.0.1:1\"\n",
            &["line 1", "listn", "no such setting"],
        ),
        (
            "config = \"other.toml\"\n",
            &["line 1", "config", "no such setting"],
        ),
        (
            "print-config = true\n",
            &["line 1", "print-config", "no such setting"],
        ),
        ("grace = \"1s\"\ngrace = \"2s\"\n", &["line 2", "duplicate"]),
        ("grace = \"1s\nworkers = 2\n", &["line 1"]),
        ("grace = 0x10\n", &["line 1", "grace"]),
    ];
    for (text, texts) in cases {
        let file = folder.write("settings.toml", text);
        for more in [&[][..], &["--print-config"]] {
            let run = run(binary().args(["serve", "--config", &file]).args(more), "");
            assert_wrong(&run, &[&[file.as_str()], *texts].concat());
        }
    }
    let missing = run(binary().args(["serve", "--config", "no/such.toml"]), "");
    assert_wrong(&missing, &["no/such.toml"]);
    let file = folder.write("settings.toml", "");
    fs::write(&file, [255]).unwrap();
    assert_wrong(
        &run(binary().args(["serve", "--config", &file]), ""),
        &[&file],
    );
}

#[test]
fn a_file_is_read_whole_or_refused() {
    const BYTES_MAX: usize = 1 << 20;
    let folder = Folder::new("long");
    // One that is cut off would be as good as any.
    let long = format!("workers = 3\n{}", "#\n".repeat(BYTES_MAX / 2));
    let print = |text: &str| {
        let file = folder.write("settings.toml", text);
        run(
            binary().args(["serve", "--print-config", "--config", &file]),
            "",
        )
    };
    let whole = print(&long[..BYTES_MAX]);
    assert_eq!(whole.code, Some(0), "{}", whole.stderr);
    assert!(
        whole.stdout.contains("workers = 3 # file"),
        "{}",
        whole.stdout
    );
    assert_wrong(
        &print(&long),
        &["settings.toml", "longer than 1048576 bytes"],
    );
}

#[test]
fn a_wrong_flag_or_variable_ends_the_start() {
    for (flag, value) in [
        ("--listen", "nowhere"),
        ("--workers", "0"),
        ("--cpu-level", "mmx"),
        ("--grace", "1 parsec"),
        ("--log-format", "xml"),
        ("--reflection", "maybe"),
        ("--reload-interval", "soon"),
        ("--solutions-max", "10001"),
        ("--tls-cert", ""),
        ("--frame-bytes", "1"),
    ] {
        let by_flag = run(binary().args(["serve", flag, value]), "");
        assert_wrong(&by_flag, &[flag, value]);
        assert!(!by_flag.stderr.contains("SUDOKU_"), "{}", by_flag.stderr);
        let name = flag.trim_start_matches('-').replace('-', "_");
        let variable = format!("SUDOKU_{}", name.to_uppercase());
        let by_variable = run(binary().arg("serve").env(&variable, value), "");
        assert_wrong(&by_variable, &[&variable, value]);
    }
    let log = run(binary().arg("serve").env("RUST_LOG", "a=b=c"), "");
    assert_wrong(&log, &["RUST_LOG"]);
}

#[test]
fn an_address_in_use_is_no_wrong_setting() {
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap().to_string();
    let run = run(binary().args(["serve", "--listen", &address]), "");
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    let said = format!("error: cannot listen on {address}: ");
    assert!(run.stderr.starts_with(&said), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
}

#[test]
fn no_token_is_printed() {
    let secret = "very-secret";
    let file = Folder::new("secret").write("tokens", secret);
    let text = printed(&["--token-file", &file], &[("SUDOKU_TOKENS", secret)]);
    assert!(
        text.contains(&file) && text.contains("SUDOKU_TOKENS"),
        "{text}"
    );
    assert!(!text.contains(secret), "{text}");
}

#[test]
fn a_server_does_what_its_file_says() {
    let settings = "listen = \"127.0.0.1:0\"\nsolutions-max = 3\n";
    let file = Folder::new("served").write("settings.toml", settings);
    let served = Served::run(binary().args(["serve", "--config", &file]));
    let ask = |limit: &str| solve(&["--server", &served.url(), "--limit", limit], EMPTY);
    assert_eq!(ask("3").code, Some(0));
    let refused = ask("4");
    assert_eq!(refused.code, Some(3));
    assert!(
        refused.stderr.contains("InvalidArgument"),
        "{}",
        refused.stderr
    );
    assert_eq!(solve(&[], UNIQUE).code, Some(0), "only `serve` reads it");
}
