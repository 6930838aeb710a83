#!/usr/bin/env bash
# Writes the software bill of materials in CycloneDX format: `target/packages/release/agentnative-VERSION.cdx.json`.
# Needs cargo-cyclonedx.
set -euo pipefail
source "$(dirname "$0")/common.sh"

mkdir -p "$out/release"
cargo cyclonedx --format json --spec-version 1.5 --target x86_64-unknown-linux-musl --override-filename "agentnative.sbom" --quiet
# Removes the path of the build folder.
sed "s|path+file://$root|path+file:///agentnative|g" agentnative.sbom.json >"$out/release/agentnative-$version.cdx.json"
rm agentnative.sbom.json
find crates fuzz xtask -name agentnative.sbom.json -delete
echo "$out/release/agentnative-$version.cdx.json"
