#!/usr/bin/env bash
# Fails if a tag does not match the version in Cargo.toml.
set -euo pipefail
source "$(dirname "$0")/common.sh"
[ $# = 1 ] || usage packages/tag.sh TAG

if [ "$1" != "v$version" ]; then
    echo "expected the tag v$version, as in Cargo.toml, found $1" >&2
    exit 1
fi
