//! Runs the checks on every fixture: conforming fixtures have no problems, each violation triggers exactly the check in
//! its name, and each incident the checks in `incidents/expected.toml`.

use crate::corpus::{self, Corpus};
use crate::examples;
use agentnative::catalogue::{check, checks};
use agentnative::check::Recording;
use agentnative::model::{CheckId, Layer, Level, Status};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex};
use tempfile::NamedTempFile;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// Returns the entries of a folder of fixtures, sorted.
fn entries(folder: &str) -> Vec<PathBuf> {
    let folder = root().join(folder);
    let mut found: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    assert!(!found.is_empty(), "nothing in {}", folder.display());
    found
}

/// Returns the report of `check` with these arguments, run in `folder`.
fn report(folder: &Path, args: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_agentnative"))
        .args(["check", "--json"])
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let document: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{args:?}: {stderr}"));
    assert_eq!(output.status.code() == Some(0), document["ok"] == true, "{args:?}: {stderr}");
    document["data"].clone()
}

/// Returns the fixtures of a kind: folders with a program, including those in a folder with a shared configuration.
pub fn fixtures(kind: &str) -> Vec<PathBuf> {
    let folders = entries(&format!("clis/{kind}")).into_iter().filter(|path| path.is_dir());
    let is_fixture = |path: &PathBuf| path.join("cli").is_file();
    let fixtures =
        folders.flat_map(|path| if is_fixture(&path) { vec![path] } else { entries(path.to_str().unwrap()) });
    fixtures.filter(is_fixture).collect()
}

/// Part of the message of a result that is unverified because the machine withheld CPU time.
const STARVED_MESSAGE: &str = "the machine ran";
/// Kinds of fixtures that have recordings.
const RECORDED_KINDS: [&str; 3] = ["incidents", "traps", "violating"];

/// Arguments that check only the behaviour of a fixture, since it has no code and no project. The runs are not
/// confined, because confinement takes longer and changes no verdict (see below).
const BEHAVIORAL_ARGS: [&str; 5] = ["--isolation", "none", "--layer", "behavioral", "./cli"];

/// Returns the report of a live check, with the configuration of the fixture or the one above it.
fn live_report(folder: &Path) -> Value {
    report(folder, &BEHAVIORAL_ARGS)
}

static CORPUS: LazyLock<Corpus> = LazyLock::new(Corpus::read);

/// As [`live_report`], but from the recording of the fixture if it has one.
fn recorded_report(folder: &Path) -> Value {
    match CORPUS.recording(folder).unwrap() {
        Some(recording) => serde_json::to_value(corpus::judged(&recording)).unwrap(),
        None => live_report(folder),
    }
}

/// Returns the IDs of the checks that failed or warned. Each has evidence and help.
fn triggered_checks(report: &Value) -> BTreeSet<String> {
    let results = report["results"].as_array().unwrap().iter();
    let bad = results.filter(|result| result["status"] == "fail" || result["status"] == "warn");
    bad.map(|result| {
        let id = result["id"].as_str().unwrap().to_owned();
        assert!(!result["evidence"].as_array().unwrap().is_empty(), "{id} has no evidence");
        assert!(result["help"].as_str().is_some_and(|help| !help.is_empty()), "{id} has no help");
        for kind in kinds(result) {
            assert!(
                check(&id).unwrap().kinds.contains_key(kind),
                "checks/{id}.toml does not have the kind {kind}"
            );
        }
        id
    })
    .collect()
}

/// Returns the result of a check.
fn result_of<'a>(report: &'a Value, id: &str) -> &'a Value {
    report["results"].as_array().unwrap().iter().find(|result| result["id"] == id).unwrap()
}

/// Returns the checks of what is optional.
fn optional_checks() -> impl Iterator<Item = &'static str> {
    checks().iter().filter(|check| check.level == Level::May).map(|check| check.id.as_str())
}

/// Returns the kinds of the problems in a result.
fn kinds(result: &Value) -> impl Iterator<Item = &str> {
    result["evidence"].as_array().unwrap().iter().map(|evidence| evidence["kind"].as_str().unwrap())
}

fn table(file: &Path) -> toml::Table {
    fs::read_to_string(file).unwrap().parse().unwrap()
}

/// Returns the IDs of the checks that a fixture has to trigger.
fn expected_checks(expected: &toml::Table) -> BTreeSet<String> {
    expected["fires"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

/// Calls `verify` for each path, four at a time, and fails with all problems that it returns.
fn for_each_path(paths: Vec<PathBuf>, verify: impl Fn(&Path) -> Option<String> + Sync) {
    let queue = Mutex::new(paths.into_iter());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap().next();
                    let Some(path) = next else { break };
                    let found = verify(&path);
                    wrong.lock().unwrap().extend(found.map(|found| (path, found)));
                }
            });
        }
    });
    // A check that the machine starved is repeated alone.
    let retry = |(path, mut found): (PathBuf, String)| {
        for _ in 0..20 {
            if !found.contains(STARVED_MESSAGE) {
                break;
            }
            found = verify(&path)?;
        }
        Some(found)
    };
    let wrong: Vec<String> = wrong.into_inner().unwrap().into_iter().filter_map(retry).collect();
    assert!(
        wrong.is_empty(),
        "{} fixtures are not as they should be; if their runs have changed, remove their recordings and record again: \
         {}\n{}",
        wrong.len(),
        corpus::COMMAND,
        wrong.join("\n")
    );
}

/// Returns the results with a status, a line each, for the message of a failed test.
fn messages(report: &Value, status: &str) -> String {
    let results = report["results"].as_array().unwrap().iter().filter(|result| result["status"] == status);
    results.map(|result| format!("\n    {status} {}: {}", result["id"], result["message"])).collect()
}

/// Returns a description of the problems of a fixture that must not have any.
fn unless_silent(path: &Path) -> Option<String> {
    let report = recorded_report(path);
    let triggered = triggered_checks(&report);
    (!triggered.is_empty())
        .then(|| format!("{}:{}{}", path.display(), messages(&report, "fail"), messages(&report, "warn")))
}

/// Returns a description of the results unless exactly the expected checks were triggered.
fn unless_triggered(path: &Path, report: &Value, expected: BTreeSet<String>) -> Option<String> {
    (triggered_checks(report) != expected).then(|| {
        let messages: String =
            ["fail", "warn", "unverified"].iter().map(|status| messages(report, status)).collect();
        format!("{}: expected {expected:?}{messages}", path.display())
    })
}

#[test]
fn conforming_fixtures_have_no_problems_and_are_verified() {
    let passed = Mutex::new(BTreeSet::new());
    for_each_path(fixtures("conforming"), |path| {
        let report = report(path, &["--layer", "behavioral,project", "."]);
        let passes = |id: &&str| result_of(&report, id)["status"] == "pass";
        passed.lock().unwrap().extend(optional_checks().filter(passes));
        let conforms = triggered_checks(&report).is_empty() && report["verified"] == true;
        (!conforms).then(|| format!("{}: {report:#}", path.display()))
    });
    assert_eq!(passed.into_inner().unwrap(), optional_checks().collect());
}

#[test]
#[ignore = "takes minutes"]
fn long_no_verdict_depends_on_confinement() {
    let all = ["traps", "violating"].into_iter().flat_map(fixtures).collect();
    for_each_path(all, |path| {
        let confined = report(path, &["--layer", "behavioral", "./cli"]);
        unless_triggered(path, &confined, triggered_checks(&live_report(path)))
    });
}

/// Records a fixture.
///
/// # Errors
/// Returns the unverified results if the machine starved the check.
fn record(path: &Path) -> Result<NamedTempFile, String> {
    let file = NamedTempFile::new().unwrap();
    let report = report(path, &[&["--record", file.path().to_str().unwrap()], &BEHAVIORAL_ARGS[..]].concat());
    let unverified = messages(&report, "unverified");
    if unverified.contains(STARVED_MESSAGE) { Err(unverified) } else { Ok(file) }
}

#[test]
fn the_recordings_are_current() {
    let all: Vec<PathBuf> = RECORDED_KINDS.into_iter().flat_map(fixtures).collect();
    let names: BTreeSet<String> = all.iter().map(|path| corpus::name(path)).collect();
    if std::env::var_os("UPDATE").is_none() {
        assert_eq!(CORPUS.names(), names, "{}", corpus::COMMAND);
        return;
    }
    let corpus = Mutex::new(Corpus::read());
    let stale = all.into_iter().filter(|path| CORPUS.recording(path).is_err());
    for_each_path(stale.collect(), |path| match record(path) {
        Ok(recording) => {
            corpus.lock().unwrap().add(path, recording.path());
            None
        }
        Err(starved) => Some(starved),
    });
    let mut corpus = corpus.into_inner().unwrap();
    corpus.retain(&names);
    corpus.write();
}

#[test]
#[ignore = "takes minutes"]
fn long_each_fixture_has_the_verdicts_of_its_recording() {
    for_each_path(RECORDED_KINDS.into_iter().flat_map(fixtures).collect(), |path| {
        let recorded = corpus::verdicts(&corpus::judged(&CORPUS.recording(path).unwrap()?));
        let live = match record(path) {
            Ok(file) => corpus::verdicts(&corpus::judged(&Recording::read(file.path()).unwrap())),
            Err(starved) => return Some(starved),
        };
        let differs = |(id, status): (&String, &Status)| {
            (recorded[id] != *status).then(|| format!("\n    {id}: {status:?}, recorded {:?}", recorded[id]))
        };
        let differences: String = live.iter().filter_map(differs).collect();
        (!differences.is_empty()).then(|| format!("{}:{differences}", path.display()))
    });
}

#[test]
fn traps_trigger_no_check() {
    for_each_path(fixtures("traps"), unless_silent);
}

#[test]
fn each_violation_triggers_its_check_and_no_other() {
    let shown = Mutex::new(examples::kinds_shown());
    let id_of =
        |path: &Path| path.file_name().unwrap().to_str().unwrap().split('.').next().unwrap().to_owned();
    let all = fixtures("violating");
    // The first fixture of each check is run live.
    let live: BTreeMap<String, &PathBuf> = all.iter().rev().map(|path| (id_of(path), path)).collect();
    for_each_path(all.clone(), |path| {
        let id = id_of(path);
        let report = if live[&id] == path { live_report(path) } else { recorded_report(path) };
        let result = result_of(&report, &id);
        shown.lock().unwrap().extend(kinds(result).map(|kind| (id.clone(), kind.to_owned())));
        if optional_checks().all(|optional| optional != id) {
            return unless_triggered(path, &report, BTreeSet::from([id]));
        }
        let accepts =
            || (result["status"] != "not-applicable").then(|| format!("{}: {result}", path.display()));
        unless_triggered(path, &report, BTreeSet::new()).or_else(accepts)
    });
    // The kinds of a lock are the rules of `contract diff`, which have their own examples. A value that is nested too
    // deeply is too long for an example.
    let behavioral = checks()
        .iter()
        .filter(|check| check.layer == Layer::Behavioral)
        .filter(|check| ![CheckId::P2ContractLocked, CheckId::P2InterfaceLocked].contains(&check.id));
    let shown = shown.into_inner().unwrap();
    let not_shown: Vec<(String, String)> = behavioral
        .flat_map(|check| check.kinds.keys().map(|kind| (check.id.to_string(), kind.clone())))
        .filter(|(id, kind)| kind != "depth" && !shown.contains(&(id.clone(), kind.clone())))
        .collect();
    assert!(not_shown.is_empty(), "no fixture and no example shows {not_shown:?}");
}

#[test]
fn each_incident_triggers_the_expected_checks() {
    let all = table(&root().join("clis/incidents/expected.toml"));
    for_each_path(fixtures("incidents"), |path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        unless_triggered(path, &recorded_report(path), expected_checks(all[name].as_table().unwrap()))
    });
}

#[test]
fn each_transcript_triggers_the_expected_checks() {
    let recordings =
        entries("transcripts").into_iter().filter(|path| path.extension().is_some_and(|e| e == "jsonl"));
    for_each_path(recordings.collect(), |path| {
        let report = report(&root(), &["--replay", path.to_str().unwrap()]);
        let expected = expected_checks(&table(&path.with_extension("toml")));
        (triggered_checks(&report) != expected)
            .then(|| format!("{}: expected {expected:?}, got {report:#}", path.display()))
    });
}

#[test]
fn recordings_of_older_versions_keep_their_verdicts() {
    for (version, recording) in [
        (1, "transcripts/02-infrastructure-lock-notice.jsonl"),
        (2, "recordings/2.jsonl"),
        (3, "recordings/3.jsonl"),
    ] {
        let recording = root().join(recording);
        let head = fs::read_to_string(&recording).unwrap();
        assert!(head.starts_with(&format!("{{\"recording\":{version},")));
        let report = report(&root(), &["--replay", recording.to_str().unwrap()]);
        let results = report["results"].as_array().unwrap().iter();
        let line = |result: &Value| {
            format!("{} {}\n", result["status"].as_str().unwrap(), result["id"].as_str().unwrap())
        };
        let verdicts: String = results.map(line).collect();
        let expected = fs::read_to_string(root().join(format!("recordings/{version}.verdicts"))).unwrap();
        assert_eq!(verdicts, expected, "version {version}");
    }
}

const FIXTURE_SAMPLING_INTERVAL: usize = 20;
/// Sampling interval of the checks that are run alone.
const CHECK_SAMPLING_INTERVAL: usize = 6;

#[test]
#[ignore = "takes minutes"]
fn long_no_verdict_depends_on_how_the_runs_are_made() {
    let copy = tempfile::tempdir().unwrap();
    let copied = Command::new("cp").arg("-r").arg(root().join("clis")).arg(copy.path()).status().unwrap();
    assert!(copied.success());
    let names_command = |path: &PathBuf| {
        let config = fs::read_to_string(path.join("agentnative.toml"));
        config.is_ok_and(|config| config.contains("command = "))
    };
    let sampled = fixtures("violating").into_iter().filter(names_command);
    let sampled = sampled
        .step_by(FIXTURE_SAMPLING_INTERVAL)
        .map(|path| copy.path().join(path.strip_prefix(root()).unwrap()));
    for_each_path(sampled.collect(), |path| {
        const BEHAVIORAL: [&str; 2] = ["--layer", "behavioral"];
        let verdicts = |args: &[&str]| -> BTreeMap<String, String> {
            let report = report(path, &[&BEHAVIORAL[..], args].concat());
            let word = |result: &Value, key: &str| result[key].as_str().unwrap().to_owned();
            let report = if report["targets"].is_array() { &report["targets"][0] } else { &report };
            let results = report["results"].as_array().unwrap().iter();
            results.map(|result| (word(result, "id"), word(result, "status"))).collect()
        };
        let expected = verdicts(&["--record", "recording", "./cli"]);
        let mut others = vec![
            ("one run at a time".to_owned(), verdicts(&["--jobs", "1", "./cli"])),
            ("replayed".to_owned(), verdicts(&["--replay", "recording"])),
            ("among all targets".to_owned(), verdicts(&["--all", "agentnative.toml"])),
        ];
        for id in expected.keys().step_by(CHECK_SAMPLING_INTERVAL) {
            others.push((format!("{id} alone"), verdicts(&["--check", id, "./cli"])));
        }
        let file = path.join("agentnative.toml");
        let config = fs::read_to_string(&file).unwrap();
        let (head, probes) = config.split_once("[[probe]]").unwrap();
        let mut probes: Vec<String> =
            probes.split("[[probe]]").map(|probe| format!("[[probe]]{probe}\n")).collect();
        probes.reverse();
        fs::write(&file, format!("{head}{}", probes.concat())).unwrap();
        others.push(("with the probes in reverse order".to_owned(), verdicts(&["./cli"])));
        let differences: Vec<String> = others
            .iter()
            .flat_map(|(how, verdicts)| {
                let differs = |(id, status): (&String, &String)| {
                    (expected[id] != *status)
                        .then(|| format!("\n    {id} {how}: {status}, expected {}", expected[id]))
                };
                verdicts.iter().filter_map(differs).collect::<Vec<_>>()
            })
            .collect();
        (!differences.is_empty()).then(|| format!("{}:{}", path.display(), differences.concat()))
    });
}
