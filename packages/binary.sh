#!/usr/bin/env bash
# Builds the static program for a target, such as x86_64-unknown-linux-musl: `target/packages/TARGET/agentnative`.
# Zig is the C compiler and the linker: `pip install -r packages/requirements.txt`.
set -euo pipefail
source "$(dirname "$0")/common.sh"
[ $# = 1 ] || usage packages/binary.sh TARGET

CARGO_PROFILE_RELEASE_STRIP=${CARGO_PROFILE_RELEASE_STRIP:-symbols} \
    cargo zigbuild --locked --release --bin agentnative --target "$1"
install -D -m 755 "${CARGO_TARGET_DIR:-target}/$1/release/agentnative" "$out/$1/agentnative"
echo "$out/$1/agentnative"
