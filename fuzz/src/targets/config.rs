//! Configurations, in `agentnative.toml` and in manifests: each is valid, or all its errors have locations in the file.

use super::shared::{assert_located, assert_valid_places};
use crate::{Target, corpus};
use agentnative::catalogue;
use agentnative::config::{Config, Date, FILE_NAME, ValidationContext, keys};
use agentnative_contract::bundled_names;

pub const TARGET: Target = Target {
    name: "config",
    run,
    seeds,
    words: &[
        "args = [\"list\", \"{port}\"]",
        "formats = [\"json\"]",
        "[[probe]]",
        "[target.a]",
        "[[service]]",
        "[[waiver]]",
        "lacks = [\"login\"]",
        "exit = 2",
        "timeout = 1.5",
        "env = { A = \"b\" }",
        "'''a'''",
        "\"\"\"\n\\\"\"\"\"",
        "0x10",
        "1_000",
        "inf",
        "nan",
        "1979-05-27T07:32:00Z",
        "a.b.c = 1",
        "\"a b\" = 1",
        "name = \"a\"",
        "command = [\"a\"]",
        "contract = \"codex-exec\"",
        "expires = \"2026-01-01\"",
    ],
};

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = corpus::texts(&["examples", "fixtures", "agentnative.toml"], &[".toml"]);
    seeds.extend(keys().iter().map(|key| format!("{}\n{}", key.header(), key.example).into_bytes()));
    seeds
}

fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let checks: Vec<&str> = catalogue::checks().iter().map(|check| check.id.as_str()).collect();
    let contracts: Vec<&str> = bundled_names().collect();
    let today = Date { year: 2026, month: 11, day: 21 };
    let known = ValidationContext { checks: &checks, contracts: &contracts, today };
    let folder = corpus::path("examples/agents");
    let manifest = format!("[package.metadata.agentnative]\n{text}");
    let json = format!("{{\"agentnative\": {text}}}");
    for (name, text) in
        [(FILE_NAME, text), ("Cargo.toml", &manifest), ("pyproject.toml", text), ("package.json", &json)]
    {
        match Config::parse(text, &folder.join(name), &known) {
            Ok(config) => assert_consistent(&config),
            // A file without a configuration has no location.
            Err(error) if error.message.contains("contains no configuration") => {}
            Err(error) => {
                assert_located(&error);
                assert_valid_places(&error, name, text);
            }
        }
    }
}

/// Asserts that a configuration survives serialization, and that its probes have existing targets.
fn assert_consistent(config: &Config) {
    let text = serde_json::to_string(config).expect("a configuration can be written");
    assert_eq!(&serde_json::from_str::<Config>(&text).expect("what was written can be read"), config);
    assert!(!config.targets.is_empty());
    for probe in &config.probes {
        assert!(config.targets.iter().any(|target| target.name == probe.target), "{}", probe.name);
    }
}
