//! The program as the image has it: one static file, built by `deploy/build-static.sh`.

#![expect(clippy::print_stdout, reason = "what was skipped must be said")]

use std::{env, fs, path::PathBuf};

use super::repository;

/// Where it is, or `None`, said aloud, where it was not built.
#[track_caller]
pub fn image() -> Option<PathBuf> {
    let Some(path) = env::var_os("SUDOKU_STATIC") else {
        println!("skipped: needs SUDOKU_STATIC, as tests/all.sh sets it");
        return None;
    };
    let path = repository("").join(path);
    assert!(
        path.exists(),
        "SUDOKU_STATIC is set, but {} is not there",
        path.display()
    );
    Some(path)
}

/// The variables that it was built with, if it was: with the same, cargo finds its release build done.
pub fn built_with() -> Vec<(String, String)> {
    if env::var_os("SUDOKU_STATIC").is_none() {
        return Vec::new();
    }
    let settings = fs::read_to_string(repository("deploy/static.env")).unwrap();
    let set = settings
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once('=').unwrap());
    set.map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}
