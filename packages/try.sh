#!/usr/bin/env bash
# Unpacks the tarball and the Debian package for a target, and checks the example with the program of each. The target
# must run on this machine. Run tarball.sh and debian.sh first.
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
dpkg-deb --extract "$out/release/agentnative-check_$version-1_$architecture.deb" "$folder/debian"
try_program "$folder/debian/usr/bin/agentnative"
echo "the tarball and the Debian package for $1 work"
