#!/usr/bin/env bash
# Fails if a tag is not that of the version in Cargo.toml.
set -euo pipefail
source "$(dirname "$0")/common.sh"
[ $# = 1 ] || usage packages/tag.sh TAG

if [ "$1" != "v$version" ]; then
    echo "the tag $1 is not v$version, the version in Cargo.toml" >&2
    exit 1
fi
