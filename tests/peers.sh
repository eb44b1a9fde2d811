#!/usr/bin/env bash
# Installs the clients of other languages, at the versions that tests/clients names, into
# target/peers. Does nothing when they are there already.
set -euo pipefail
cd "$(dirname "$0")/.."

peers=target/peers
wanted=$(cat tests/peers.sh tests/clients/requirements.txt tests/clients/package-lock.json | cksum)
if [[ -f $peers/installed && $(<"$peers/installed") == "$wanted" ]]; then
    exit 0
fi

fail() {
    echo "tests/peers.sh: $*" >&2
    exit 1
}
for program in python3 node npm; do
    command -v "$program" >/dev/null || fail "$program is needed for the test clients"
done
rm -rf "$peers"
mkdir -p "$peers/node"
python3 -m venv "$peers/python" || fail "cannot make a Python virtual environment"
"$peers/python/bin/pip" install --quiet --disable-pip-version-check \
    -r tests/clients/requirements.txt || fail "cannot fetch the Python clients"
cp tests/clients/package.json tests/clients/package-lock.json "$peers/node/"
# No package that is used needs its install script.
npm ci --prefix "$peers/node" --ignore-scripts --no-audit --no-fund --loglevel=error ||
    fail "cannot fetch the Node clients and buf"
echo "$wanted" >"$peers/installed"
