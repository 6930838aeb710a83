#!/usr/bin/env bash
# Writes the completions and man pages for the packages to `target/packages/assets/`. PROGRAM must run on this machine.
set -euo pipefail
source "$(dirname "$0")/common.sh"
[ $# = 1 ] || usage packages/assets.sh PROGRAM

assets=$out/assets
rm -rf "$assets"
mkdir -p "$assets/completions" "$assets/man"
"$1" completions bash >"$assets/completions/agentnative.bash"
"$1" completions fish >"$assets/completions/agentnative.fish"
"$1" completions zsh >"$assets/completions/_agentnative"
cargo xtask man "$out/man"
cp "$out"/man/agentnative*.1 "$assets/man/"
