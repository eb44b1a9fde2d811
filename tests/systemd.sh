#!/usr/bin/env bash
# Sees to it that there are systemd-analyze and strace, which check deploy/sudoku-solver.service: those of the
# machine, or else Debian's. Installing systemd does not make it run.
set -euo pipefail

if command -v systemd-analyze >/dev/null && command -v strace >/dev/null; then
    exit 0
fi

fail() {
    echo "tests/systemd.sh: $*" >&2
    exit 1
}
command -v apt-get >/dev/null || fail "systemd-analyze and strace are needed, from packages of this machine"
install() {
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends systemd strace >/dev/null 2>&1
}
# The lists of packages may be missing or old.
install || (apt-get update >/dev/null && install) || fail "cannot install Debian's systemd and strace"
