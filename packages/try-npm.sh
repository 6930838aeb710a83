#!/usr/bin/env bash
# Installs the npm packages from their files into an empty folder, and checks the example with them. Run npm.py first.
set -euo pipefail
source "$(dirname "$0")/common.sh"

case $(uname -m) in
x86_64) platform=linux-x64 ;;
aarch64) platform=linux-arm64 ;;
*) usage packages/try-npm.sh, on x86-64 or arm64 ;;
esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo '{"private": true}' >"$folder/package.json"
npm install --silent --no-audit --no-fund --prefix "$folder" \
    "$out/npm/agentnative-check-$version.tgz" "$out/npm/agentnative-check-$platform-$version.tgz"
try_program "$(command -v node)" "$folder/node_modules/.bin/agentnative"
cp packages/npm/tests/check.test.mjs "$folder/"
CLIS=$root/fixtures/clis node --test "$folder/check.test.mjs"
echo "the npm packages for $platform work"
