//! Files of answers that are continued: whatever a run was interrupted by, the file becomes what an
//! uninterrupted run writes, to the byte; and a file that belongs to something else is left alone.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod binary;

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
    thread,
    time::Duration,
};

use binary::{
    Run, binary,
    fleet::{boards, nobody},
    run,
    served::Served,
};

/// A file of this test's own that is not there.
fn missing(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(fs::remove_file(&path));
    path
}

#[track_caller]
fn solve_into(out: &Path, args: &[&str], boards: &[String]) -> Run {
    run(
        binary().arg("solve").args(args).arg("--out").arg(out),
        boards.join("\n"),
    )
}

/// What an uninterrupted run writes.
#[track_caller]
fn whole(name: &str, args: &[&str], boards: &[String]) -> Vec<u8> {
    let out = missing(name);
    let run = solve_into(&out, args, boards);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (Some(0), ""),
        "{}",
        run.stderr
    );
    fs::read(out).unwrap()
}

#[test]
fn a_file_cut_anywhere_becomes_the_same_file() {
    let boards = boards(2500);
    let out = missing("resume-cut.out");
    for args in [
        &["--output", "lines"][..],
        &["--output", "jsonl"],
        &["--limit", "1"],
    ] {
        let whole = whole("resume-whole.out", args, &boards);
        let resume = [args, &["--resume"]].concat();
        let line_ends: Vec<usize> = (0..whole.len()).filter(|&at| whole[at] == b'\n').collect();
        assert_eq!(line_ends.len(), 2500);
        // Nothing, half a line, whole lines, all but the last byte, all.
        let cuts = [
            0,
            7,
            line_ends[0] + 1,
            line_ends[17],
            line_ends[1100] + 40,
            line_ends[2000] + 1,
        ];
        for cut in cuts.into_iter().chain([whole.len() - 1, whole.len()]) {
            fs::write(&out, &whole[..cut]).unwrap();
            let run = solve_into(&out, &resume, &boards);
            assert_eq!(run.code, Some(0), "{args:?} cut at {cut}: {}", run.stderr);
            assert!(fs::read(&out).unwrap() == whole, "{args:?} cut at {cut}");
        }
    }
    // What is not there yet is begun.
    let out = missing("resume-new.out");
    assert_eq!(solve_into(&out, &["--resume"], &boards).code, Some(0));
    assert_eq!(
        fs::read(&out).unwrap(),
        whole("resume-whole-2.out", &[], &boards)
    );
}

#[test]
fn finished_boards_are_not_sent_again_but_for_the_last() {
    let boards = boards(5000);
    let out = missing("resume-sent.out");
    let whole = whole("resume-sent-whole.out", &[], &boards);
    fs::write(&out, &whole[..whole.len() - 100]).unwrap();
    let run = solve_into(&out, &["--resume"], &boards);
    assert!(fs::read(&out).unwrap() == whole);
    let solved: u64 = run
        .stderr
        .split(' ')
        .next()
        .unwrap()
        .replace(',', "")
        .parse()
        .unwrap();
    assert!(solved < 1100, "{}", run.stderr);
}

#[test]
fn a_run_that_is_killed_is_continued() {
    let boards = boards(60_000);
    let whole = whole("resume-killed-whole.out", &[], &boards);
    let out = missing("resume-killed.out");
    let served = Served::start();
    let mut child = binary()
        .args(["solve", "--server", &served.address, "--out"])
        .arg(&out)
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "{}", boards[..40_000].join("\n")).unwrap();
    // Its input is open: it is killed before its end, wherever that is.
    while fs::metadata(&out).map_or(0, |file| file.len()) < 100_000 {
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let left = fs::read(&out).unwrap();
    assert!(left.len() < whole.len() && whole.starts_with(&left));
    let run = solve_into(&out, &["--resume", "--server", &served.address], &boards);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(fs::read(&out).unwrap() == whole);
}

#[test]
fn unanswered_boards_are_solved_when_the_job_is_continued() {
    let boards = boards(2000);
    let nobody = nobody();
    for args in [&["--output", "lines"][..], &["--output", "jsonl"]] {
        let whole = whole("resume-dead-whole.out", args, &boards);
        let out = missing("resume-dead.out");
        // One part is done, and then there is nobody.
        let done = 1 + whole.iter().position(|&byte| byte == b'\n').unwrap();
        fs::write(&out, &whole[..done]).unwrap();
        let dead = [
            args,
            &["--resume", "--retry-for", "1s", "--server", &nobody],
        ]
        .concat();
        let run = solve_into(&out, &dead, &boards[..100]);
        assert_eq!(run.code, Some(3), "{}", run.stderr);
        assert!(run.stderr.contains(" UNANSWERED"), "{}", run.stderr);
        // The finished line was to be solved again, and could not be: it stays.
        assert!(fs::read(&out).unwrap().starts_with(&whole[..done]));

        let out = missing("resume-dead.out");
        let run = solve_into(&out, &dead, &boards[..100]);
        assert_eq!(run.code, Some(3), "{}", run.stderr);
        assert_eq!(
            fs::read_to_string(&out)
                .unwrap()
                .matches("UNANSWERED")
                .count(),
            100
        );
        let run = solve_into(&out, &[args, &["--resume"]].concat(), &boards);
        assert_eq!(run.code, Some(0), "{}", run.stderr);
        assert!(fs::read(&out).unwrap() == whole);
    }
}

/// Refuses to continue this file, and leaves it as it is.
#[track_caller]
fn check_refused(content: &[u8], args: &[&str], boards: &[String], says: &str) {
    let out = missing("resume-refused.out");
    fs::write(&out, content).unwrap();
    let run = solve_into(&out, args, boards);
    assert_eq!(run.code, Some(1), "{}", run.stderr);
    assert!(run.stderr.contains(says), "{says} is not in {}", run.stderr);
    assert!(fs::read(&out).unwrap() == content, "it was touched");
}

#[test]
fn a_file_that_belongs_to_something_else_is_refused_and_left_alone() {
    let boards = boards(3000);
    let file = whole("resume-refused-whole.out", &[], &boards[..2000]);
    let objects = whole(
        "resume-refused-whole.jsonl",
        &["--output", "jsonl"],
        &boards[..2000],
    );
    let resume = &["--resume"][..];

    check_refused(
        &file,
        &[],
        &boards,
        "is there already; --resume continues it",
    );
    let no_answer = "does not belong to this input: its line 1 is no answer to board 1, ";
    check_refused(&file, resume, &boards[1..], no_answer);
    check_refused(
        &objects,
        &["--resume", "--output", "jsonl"],
        &boards[1..],
        no_answer,
    );
    let mut swapped = boards.clone();
    swapped.swap(1500, 1501);
    check_refused(
        &file,
        resume,
        &swapped,
        "its line 1501 is no answer to board 1501, ",
    );
    let shorter = "it has 2000 answers to 1500 boards";
    check_refused(&file, resume, &boards[..1500], shorter);
    // Another format.
    check_refused(&objects, resume, &boards, no_answer);
    check_refused(
        &file,
        &["--resume", "--output", "jsonl"],
        &boards,
        no_answer,
    );
    // Other options.
    let options = "does not belong to these options";
    check_refused(&file, &["--resume", "--limit", "3"], &boards, options);
    check_refused(
        &objects,
        &["--resume", "--output", "jsonl", "--limit", "1"],
        &boards,
        options,
    );
    // Other files, with lines and without.
    let input = boards.join("\n");
    check_refused(input.as_bytes(), resume, &boards, no_answer);
    check_refused(
        b"my only copy",
        resume,
        &boards,
        "is no file of answers to this input",
    );
    check_refused(
        b"my only copy",
        resume,
        &[],
        "is no file of answers to this input",
    );
}

#[test]
fn two_runs_do_not_write_one_file() {
    let out = missing("resume-two.out");
    let mut first = binary()
        .args(["solve", "--out"])
        .arg(&out)
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let boards = boards(10);
    let stdin = first.stdin.as_mut().unwrap();
    writeln!(stdin, "{}", boards.join("\n")).unwrap();
    while fs::metadata(&out).map_or(0, |file| file.len()) == 0 {
        thread::sleep(Duration::from_millis(1));
    }
    let run = solve_into(&out, &["--resume"], &boards);
    assert_eq!(run.code, Some(1));
    assert!(
        run.stderr.contains("another run is writing"),
        "{}",
        run.stderr
    );
    assert_eq!(first.wait().unwrap().code(), Some(0));
}
