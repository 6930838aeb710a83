//! The configurations in `examples/` stay valid. Whether the tools are there is another matter: nothing
//! is run.

use agentnative::config::{Config, Date, Known};
use agentnative::report::catalogue;

#[test]
fn each_example_is_a_valid_configuration() {
    let checks: Vec<&str> = catalogue::checks().iter().map(|check| check.id.as_str()).collect();
    let today = Date { year: 2026, month: 1, day: 1 };
    let mut found = 0;
    for entry in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            found += 1;
            let config = Config::load(&path, &Known { checks: &checks, contracts: &[], today }).unwrap();
            for target in &config.targets {
                let probes: Vec<_> = config.probes_of(target).collect();
                assert!(probes.iter().any(|probe| probe.exit == 0), "{}: no success", path.display());
                assert!(probes.iter().any(|probe| probe.exit != 0), "{}: no failure", path.display());
                let program = target.command.as_ref().map_or("", |command| &command[0]);
                assert!(!program.contains('/'), "{}: a path of one machine", path.display());
            }
        }
    }
    assert!(found >= 6);
}
