//! The targets are in order: what was found stays mended, and a few new inputs pass.

use fuzz::drive::{Limits, drive};
use fuzz::{TARGETS, corpus};
use std::time::Duration;

/// For each target.
const LIMITS: Limits = Limits { time: Duration::from_millis(100), inputs: 200 };

#[test]
fn finds_stay_mended() {
    for target in TARGETS {
        for (path, input) in corpus::finds(target) {
            println!("{}", path.display());
            (target.run)(&input);
        }
    }
}

#[test]
fn each_target_runs_on_its_seeds_and_their_changes() {
    for target in TARGETS {
        assert!(!corpus::seeds(target).is_empty(), "{} has no seeds", target.name);
        let outcome = drive(target, 1, LIMITS, None);
        assert!(outcome.inputs > 0, "{}", target.name);
        if let Some((place, find)) = outcome.finds.first_key_value() {
            panic!("{} at {place}: {}\n{}", target.name, find.message, String::from_utf8_lossy(&find.input));
        }
    }
}

#[test]
fn each_target_is_a_file_of_its_own_and_each_folder_of_finds_belongs_to_one() {
    for target in TARGETS {
        let file = format!("fuzz/src/targets/{}.rs", target.name.replace('-', "_"));
        assert!(corpus::path(&file).is_file(), "{file}");
    }
    for folder in std::fs::read_dir(corpus::path("fuzz/finds")).into_iter().flatten() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        assert!(fuzz::target(&name).is_some(), "fuzz/finds/{name}");
    }
}
