#!/usr/bin/env bash
# Packs the program for a target with licenses, README, changelog, completions and man pages, reproducibly:
# `target/packages/release/agentnative-VERSION-TARGET.tar.gz`. Run binary.sh and assets.sh first.
set -euo pipefail
source "$(dirname "$0")/common.sh"
[ $# = 1 ] || usage packages/tarball.sh TARGET

name=agentnative-$version-$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/$name" "$out/release"
cp "$out/$1/agentnative" README.md CHANGELOG.md LICENSE-* "$folder/$name/"
cp -R "$out/assets/completions" "$out/assets/man" "$folder/$name/"
tar --create --sort name --owner 0 --group 0 --numeric-owner --mode u=rwX,go=rX --mtime "@$SOURCE_DATE_EPOCH" \
    --directory "$folder" "$name" | gzip --no-name --best >"$out/release/$name.tar.gz"
echo "$out/release/$name.tar.gz"
