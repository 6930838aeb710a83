#!/usr/bin/env bash
# Fuzzes a target with libFuzzer, guided by coverage: `coverage.sh TARGET [OPTION OF LIBFUZZER…]`. Stable Rust and a
# C++ compiler are enough. What it learns is kept in target/coverage/corpus/TARGET, what it finds in target/fuzzing.
set -euo pipefail
cd "$(dirname "$0")/.."
target=$1
shift

host=$(rustc -vV | sed -n 's/^host: //p')
passes=(
    -Cpasses=sancov-module
    -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
    -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares
)
# With a target named, build scripts and macros are built without these flags.
RUSTFLAGS="${passes[*]} --cfg fuzzing" CARGO_INCREMENTAL=0 cargo build --locked --package fuzz --profile fuzz \
    --features coverage --bin coverage --target "$host" --target-dir target/coverage
corpus=target/coverage/corpus/$target
cargo run --locked --quiet --package fuzz --profile fuzz -- --seeds "$corpus" "$target"
mkdir -p target/fuzzing
FUZZ_TARGET=$target exec "target/coverage/$host/fuzz/coverage" -max_len=32768 -timeout=60 -rss_limit_mb=4096 \
    -artifact_prefix="target/fuzzing/$target-" "$@" "$corpus"
