# What the scripts of this folder share: the version, the folder for what they make. Sourced, not run.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# What is made is here; binaries are in `$out/TARGET/`.
out=${PACKAGES_OUT:-$root/target/packages}
version=$(cargo metadata --locked --no-deps --format-version 1 --manifest-path Cargo.toml |
    python3 -c 'import json, sys; print(next(p["version"] for p in json.load(sys.stdin)["packages"] if p["name"] == "agentnative"))')

usage() {
    echo "usage: $*" >&2
    exit 2
}
# The time of what is packed is that of the commit, so that the same sources give the same files.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
