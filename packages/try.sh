#!/usr/bin/env bash
# Unpacks the tarball and the Debian package of a target, and checks the example with the program of each. The machine
# must be able to run the target. Before: tarball.sh, debian.sh.
set -euo pipefail
source "$(dirname "$0")/common.sh"
[ $# = 1 ] || usage packages/try.sh TARGET

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar --extract --gzip --file "$out/release/agentnative-$version-$1.tar.gz" --directory "$folder"
try_program "$folder/agentnative-$version-$1/agentnative"
case $1 in
x86_64-*) architecture=amd64 ;;
aarch64-*) architecture=arm64 ;;
*) usage packages/try.sh x86_64-unknown-linux-musl or aarch64-unknown-linux-musl ;;
esac
dpkg-deb --extract "$out/release/agentnative_$version-1_$architecture.deb" "$folder/debian"
try_program "$folder/debian/usr/bin/agentnative"
echo "tried the tarball and the Debian package for $1"
