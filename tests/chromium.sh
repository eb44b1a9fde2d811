#!/usr/bin/env bash
# Sees to it that there is a Chromium, in which the page of examples/web is tested: that of the machine, or
# else Debian's, which is installed.
set -euo pipefail

if command -v chromium >/dev/null; then
    exit 0
fi

fail() {
    echo "tests/chromium.sh: $*" >&2
    exit 1
}
command -v apt-get >/dev/null || fail "chromium is needed, from a package of this system"
install() {
    # Its recommendations are a desktop's.
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium >/dev/null 2>&1
}
# The lists of packages may be missing or old.
install || (apt-get update >/dev/null && install) || fail "cannot install Debian's chromium"
