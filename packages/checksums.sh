#!/usr/bin/env bash
# Writes the checksums of the release files to `target/packages/release/SHA256SUMS`.
set -euo pipefail
source "$(dirname "$0")/common.sh"

cd "$out/release"
find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%f\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS
sha256sum --check --quiet --strict SHA256SUMS
