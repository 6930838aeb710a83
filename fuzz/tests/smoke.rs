//! All targets pass on their finds and on a few new inputs.

use fuzz::drive::{Limits, drive};
use fuzz::{TARGETS, corpus};
use std::time::Duration;

/// Limits of each target.
const LIMITS: Limits = Limits { time: Duration::from_millis(100), inputs: 200 };

#[test]
fn finds_stay_fixed() {
    for target in TARGETS {
        for (path, input) in corpus::finds(target) {
            println!("{}", path.display());
            (target.run)(&input);
        }
    }
}

#[test]
fn each_target_passes_on_mutated_seeds() {
    for target in TARGETS {
        assert!(!corpus::seeds(target).is_empty(), "{} has no seeds", target.name);
        let result = drive(target, 1, LIMITS, None);
        assert!(result.inputs > 0, "{}", target.name);
        if let Some((location, find)) = result.finds.first_key_value() {
            panic!(
                "{} at {location}: {}\n{}",
                target.name,
                find.message,
                String::from_utf8_lossy(&find.input)
            );
        }
    }
}

#[test]
fn each_target_has_a_file_and_each_folder_of_finds_has_a_target() {
    for target in TARGETS {
        let file = format!("fuzz/src/targets/{}.rs", target.name.replace('-', "_"));
        assert!(corpus::path(&file).is_file(), "{file}");
    }
    for folder in std::fs::read_dir(corpus::path("fuzz/finds")).into_iter().flatten() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        assert!(fuzz::target(&name).is_some(), "fuzz/finds/{name}");
    }
}
