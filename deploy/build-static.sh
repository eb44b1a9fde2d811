#!/usr/bin/env bash
# deploy/build-static.sh FILE: builds the program as one static file, as the image has it, and puts it there.
# Needs a Rust toolchain, a C compiler, and the C library's libc.a (Debian: libc6-dev).
set -euo pipefail
file=$(realpath -m "$1")
cd "$(dirname "$0")/.."

set -a
. deploy/static.env
set +a
cargo build --release --locked
mkdir -p "$(dirname "$file")"
# Without the tables of lines, which are most of its size. Names of functions stay, for backtraces.
strip --strip-debug -o "$file" "${CARGO_TARGET_DIR:-target}/$(rustc --print host-tuple)/release/sudoku-solver"
