//! The clients of other languages that `tests/all.sh` installs.

#![expect(clippy::print_stdout, reason = "what was skipped must be said")]

use std::{env, path::PathBuf};

/// Where they are installed, or `None`, said aloud, on a machine that has not got them. With
/// `SUDOKU_PEERS` set they must be there: then the checks that count do not pass by not running.
#[track_caller]
pub fn peers() -> Option<PathBuf> {
    let Some(folder) = env::var_os("SUDOKU_PEERS") else {
        println!("skipped: needs SUDOKU_PEERS, as tests/all.sh sets it");
        return None;
    };
    let folder = super::repository("").join(folder);
    for program in [
        "python/bin/python",
        "python/bin/grpcurl",
        "node/node_modules/@grpc/grpc-js",
    ] {
        let path = folder.join(program);
        assert!(
            path.exists(),
            "SUDOKU_PEERS is set, but {} is not there",
            path.display()
        );
    }
    Some(folder)
}
