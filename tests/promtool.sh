#!/usr/bin/env bash
# Sees to it that there is a promtool, which checks metrics and alerts: that of the machine, or else
# Debian's, unpacked into target/peers without installing anything.
set -euo pipefail
cd "$(dirname "$0")/.."

peers=target/peers/prometheus
if command -v promtool >/dev/null || [[ -x $peers/usr/bin/promtool ]]; then
    exit 0
fi

fail() {
    echo "tests/promtool.sh: $*" >&2
    exit 1
}
command -v apt-get >/dev/null || fail "promtool is needed, from https://prometheus.io/download or a package"
download=$(mktemp -d)
trap 'rm -rf "$download"' EXIT
fetch() {
    (cd "$download" && apt-get download prometheus >/dev/null 2>&1)
}
# The lists of packages may be missing or old.
fetch || (apt-get update >/dev/null && fetch) || fail "cannot fetch Debian's prometheus for its promtool"
mkdir -p "$peers"
dpkg-deb --extract "$download"/prometheus_*.deb "$peers"
