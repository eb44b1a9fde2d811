//! The clients of other languages, Envoy and checkers that `tests/all.sh` installs.

#![expect(clippy::print_stdout, reason = "what was skipped must be said")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{self, Command},
    sync::OnceLock,
};

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
        "python/bin/envoy",
        "python/bin/hadolint",
        "python/bin/kubernetes-validate",
        "kubectl",
        "node/node_modules/@grpc/grpc-js",
        "node/node_modules/playwright-core",
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

/// The proto compiled for Python, once a process.
#[track_caller]
pub fn python_stubs(python: &Path) -> &'static Path {
    static STUBS: OnceLock<PathBuf> = OnceLock::new();
    STUBS.get_or_init(|| compile_stubs(python))
}

#[track_caller]
fn compile_stubs(python: &Path) -> PathBuf {
    // No other process may read them while they are written.
    let folder = format!("python-stubs-{}", process::id());
    let stubs = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(&stubs).unwrap();
    let compiled = Command::new(python)
        .args(["-m", "grpc_tools.protoc", "-I", "proto"])
        .arg("sudoku/v1/sudoku.proto")
        .arg(format!("--python_out={}", stubs.display()))
        .arg(format!("--grpc_python_out={}", stubs.display()))
        .current_dir(super::repository(""))
        .status()
        .unwrap();
    assert!(compiled.success());
    stubs
}
