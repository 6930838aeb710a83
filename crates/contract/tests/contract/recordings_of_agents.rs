//! Validates the recordings of agents against the contract of their version, and mutations of those that are valid.

use crate::recordings::{Recording, recordings};
use agentnative_contract::{Contract, RunExit, Settings, Validation, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the verdict of the contract on a run, as the command `validate` does.
pub fn validate(contract: &Contract, stdout: &[u8], exit: &RunExit<'_>) -> Verdict {
    let settings = Settings { framing: contract.framing(), max_errors: 20, exit: *exit, threads: 1 };
    Validation::new(contract, settings).validate(stdout, &mut |_| ()).unwrap()
}

/// Returns the contracts of all recordings by their name with the version of the agent.
pub fn contracts(recordings: &[Recording]) -> BTreeMap<String, Contract> {
    let named = recordings.iter().filter(|recording| recording.get("contract") != "-");
    let names: BTreeSet<String> = named.map(contract_name).collect();
    names.into_iter().map(|name| (name.clone(), Contract::bundled(&name).unwrap())).collect()
}

pub fn contract_name(recording: &Recording) -> String {
    format!("{}@{}", recording.get("contract"), recording.version())
}

pub fn exit_of(recording: &Recording) -> RunExit<'_> {
    let condition = Some(recording.get("condition")).filter(|name| !name.is_empty());
    RunExit { code: Some(recording.exit), condition, stderr: Some(&recording.stderr) }
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_recordings_select_their_contract_by_the_first_event() {
    for recording in recordings().iter().filter(|recording| !recording.stdout.is_empty()) {
        let found = Contract::detect(&recording.stdout[..]);
        let found = found.as_ref().map_or("-", |(contract, _)| contract.name());
        let expected = match recording.name() {
            // A result alone is also a document.
            "claude-2.1.197-badresume-stream" => "claude-json",
            _ => recording.get("contract"),
        };
        assert_eq!(found.split('@').next(), Some(expected), "{}", recording.name());
    }
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_recordings_have_the_verdicts_of_the_table() {
    let recordings = recordings();
    let contracts = contracts(&recordings);
    let mut wrong = Vec::new();
    for recording in recordings.iter().filter(|recording| recording.get("contract") != "-") {
        let contract = &contracts[&contract_name(recording)];
        let verdict = validate(contract, &recording.stdout, &exit_of(recording));
        let known: BTreeSet<&str> =
            verdict.known.iter().filter_map(|known| known.finding.as_ref()?.id.as_deref()).collect();
        let found = match (verdict.errors.first(), known.first()) {
            (Some(error), _) => format!("invalid {}", error.rule),
            (None, Some(finding)) => format!("known {finding}"),
            (None, None) => "valid".to_owned(),
        };
        let unknown: Vec<_> = verdict.unknown_types.keys().collect();
        println!("{:36} {found} {unknown:?}", recording.name());
        if found != recording.get("verdict") || known.len() > 1 {
            let expected = recording.get("verdict");
            wrong.push(format!("{}: expected {expected}: {verdict:#?}", recording.name()));
        }
    }
    assert!(wrong.is_empty(), "{} recordings:\n{}", wrong.len(), wrong.join("\n"));
}
