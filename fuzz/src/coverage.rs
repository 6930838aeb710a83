//! The driver for libFuzzer, which is guided by coverage. `coverage.sh` builds and runs it.
#![no_main]

use fuzz::rng::Rng;
use fuzz::{Target, corpus, mutate, target};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use std::sync::LazyLock;

/// The target with the name in the variable `FUZZ_TARGET`.
static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    target(&name).unwrap_or_else(|| panic!("FUZZ_TARGET is `{name}`; expected the name of a target"))
});

static SEEDS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| corpus::seeds(&TARGET));

fuzz_target!(|input: &[u8]| (TARGET.run)(input));

// Half of the mutations are those of libFuzzer.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed.is_multiple_of(2) {
        return fuzzer_mutate(data, size, max_size);
    }
    let mut rng = Rng::new(seed.into());
    let other = rng.choose(&SEEDS);
    let mutated = mutate::mutate(&mut rng, &data[..size], other, TARGET.words);
    let length = mutated.len().min(max_size);
    data[..length].copy_from_slice(&mutated[..length]);
    length
});
