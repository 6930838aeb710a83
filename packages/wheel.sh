#!/usr/bin/env bash
# Builds the wheel with the Python package and the static program: `target/packages/release/agentnative_check-VERSION-*.whl`.
# A static program needs no C library, so the wheel is tagged for both glibc and musl. Needs packages/requirements.txt.
set -euo pipefail
source "$(dirname "$0")/common.sh"
[ $# = 1 ] || usage packages/wheel.sh TARGET

case $1 in
x86_64-unknown-linux-musl | aarch64-unknown-linux-musl) machine=${1%%-*} ;;
*) usage packages/wheel.sh x86_64-unknown-linux-musl or aarch64-unknown-linux-musl ;;
esac
mkdir -p "$out/release"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
(cd packages/python && maturin build --release --locked --zig --target "$1" --out "$folder" --quiet)
python3 -m wheel tags --remove --platform-tag "manylinux_2_17_$machine.manylinux2014_$machine.musllinux_1_1_$machine" \
    "$folder"/*.whl >/dev/null
mv "$folder"/*.whl "$out/release/"
ls "$out/release/"*"$machine.whl"
