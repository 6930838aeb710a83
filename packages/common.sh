# Variables and functions that the scripts in this folder share. Sourced, not executed.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
# Output folder; binaries are in `$out/TARGET/`.
out=${PACKAGES_OUT:-$root/target/packages}
version=$(cargo metadata --locked --no-deps --format-version 1 --manifest-path Cargo.toml |
    python3 -c 'import json, sys; print(next(p["version"] for p in json.load(sys.stdin)["packages"] if p["name"] == "agentnative-check"))')

usage() {
    echo "usage: $*" >&2
    exit 2
}
# Packed files have the time of the commit, so that builds are reproducible.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}

# Tests a program without Rust on its PATH: it has this version, and finds the two mistakes of `examples/notes`.
try_program() {
    local folder status=0
    folder=$(mktemp -d)
    cp -R examples/notes "$folder/"
    [ "$(env -i PATH=/usr/bin:/bin HOME="$folder" "$@" --version)" = "agentnative $version" ]
    (cd "$folder" && env -i PATH=/usr/bin:/bin HOME="$folder" "$@" check --json notes >report.json) || status=$?
    python3 - "$status" "$folder/report.json" <<'END'
import json, sys
status, report = sys.argv[1], json.load(open(sys.argv[2]))
failed = [result["id"] for result in report["data"]["results"] if result["status"] == "fail"]
assert (status, failed) == ("1", ["p2-output-pure", "p2-exit-usage"]), (status, failed)
END
    rm -rf "$folder"
}
