#!/usr/bin/env bash
# Publishes the crates, with REPOSITORY as the repository of the main crate: cargo-binstall needs its address. Options of
# `cargo publish` may follow, such as `--dry-run`.
set -euo pipefail
source "$(dirname "$0")/common.sh"
[ $# -ge 1 ] || usage packages/publish.sh REPOSITORY [OPTION...]

repository=$1
shift
sed -i "s|^readme = \"README.md\"\$|&\nrepository = \"$repository\"|" Cargo.toml
grep -qxF "repository = \"$repository\"" Cargo.toml
cargo publish --locked --allow-dirty --workspace --exclude fuzz --exclude xtask "$@"
