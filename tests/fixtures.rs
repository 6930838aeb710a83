//! Runs the checks over every fixture: what conforms is silent, each violation fires exactly the check that
//! it is named for, and each incident those that `incidents/expected.toml` lists.

use crate::corpus::{self, Corpus};
use crate::examples;
use agentnative::catalogue::{check, checks};
use agentnative::check::Recording;
use agentnative::model::{CheckId, Layer, Status};
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

/// The entries of a folder of fixtures.
fn entries(folder: &str) -> Vec<PathBuf> {
    let folder = root().join(folder);
    let mut found: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    assert!(!found.is_empty(), "nothing in {}", folder.display());
    found
}

/// The report of `check` with these arguments, in this folder.
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

/// The fixtures of a kind: folders with a program, also those in a folder whose configuration they share.
pub fn fixtures(kind: &str) -> Vec<PathBuf> {
    let folders = entries(&format!("clis/{kind}")).into_iter().filter(|path| path.is_dir());
    let is_fixture = |path: &PathBuf| path.join("cli").is_file();
    let fixtures =
        folders.flat_map(|path| if is_fixture(&path) { vec![path] } else { entries(path.to_str().unwrap()) });
    fixtures.filter(is_fixture).collect()
}

/// What a report says where the machine kept it from a verdict.
const STARVED: &str = "the machine gave";
/// The kinds whose fixtures are recorded.
const RECORDED: [&str; 3] = ["incidents", "traps", "violating"];

/// The arguments that check a fixture by its behaviour alone: it has no code and no files around it that are to be
/// looked at. Confining the runs would take longer, and change nothing (see below).
const BEHAVIOUR: [&str; 5] = ["--isolation", "none", "--layer", "behavioral", "./cli"];

/// The report of a live check. The configuration is the fixture's own, or the one above it.
fn checked(folder: &Path) -> Value {
    report(folder, &BEHAVIOUR)
}

static CORPUS: LazyLock<Corpus> = LazyLock::new(Corpus::read);

/// As [`checked`], from the recording of the fixture where it has one.
fn recorded(folder: &Path) -> Value {
    match CORPUS.recording(folder).unwrap() {
        Some(recording) => serde_json::to_value(corpus::judged(&recording)).unwrap(),
        None => checked(folder),
    }
}

/// The IDs that failed or warned; each has evidence and says what to do.
fn fired(report: &Value) -> BTreeSet<String> {
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

/// In which ways a check is broken.
fn kinds(result: &Value) -> impl Iterator<Item = &str> {
    result["evidence"].as_array().unwrap().iter().map(|evidence| evidence["kind"].as_str().unwrap())
}

fn table(file: &Path) -> toml::Table {
    fs::read_to_string(file).unwrap().parse().unwrap()
}

/// The IDs of the checks that fire, by what is expected.
fn expected(expected: &toml::Table) -> BTreeSet<String> {
    expected["fires"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
}

/// Does `each` for all of `paths`, four at a time, and fails with all that it found.
fn walk(paths: Vec<PathBuf>, each: impl Fn(&Path) -> Option<String> + Sync) {
    let queue = Mutex::new(paths.into_iter());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap().next();
                    let Some(path) = next else { break };
                    let found = each(&path);
                    wrong.lock().unwrap().extend(found.map(|found| (path, found)));
                }
            });
        }
    });
    // What the machine kept from a verdict is checked again alone.
    let again = |(path, mut found): (PathBuf, String)| {
        for _ in 0..20 {
            if !found.contains(STARVED) {
                break;
            }
            found = each(&path)?;
        }
        Some(found)
    };
    let wrong: Vec<String> = wrong.into_inner().unwrap().into_iter().filter_map(again).collect();
    assert!(
        wrong.is_empty(),
        "{} fixtures are not as they should be; if their runs have changed, remove their recordings and record again: \
         {}\n{}",
        wrong.len(),
        corpus::COMMAND,
        wrong.join("\n")
    );
}

/// What fired and what did not decide, for people.
fn messages(report: &Value, status: &str) -> String {
    let results = report["results"].as_array().unwrap().iter().filter(|result| result["status"] == status);
    results.map(|result| format!("\n    {status} {}: {}", result["id"], result["message"])).collect()
}

fn silent(path: &Path) -> Option<String> {
    let report = recorded(path);
    let fired = fired(&report);
    (!fired.is_empty())
        .then(|| format!("{}:{}{}", path.display(), messages(&report, "fail"), messages(&report, "warn")))
}

fn unless_fired(path: &Path, report: &Value, expected: BTreeSet<String>) -> Option<String> {
    (fired(report) != expected).then(|| {
        let messages: String =
            ["fail", "warn", "unverified"].iter().map(|status| messages(report, status)).collect();
        format!("{}: expected {expected:?}{messages}", path.display())
    })
}

#[test]
fn what_conforms_is_silent_and_verified() {
    walk(fixtures("conforming"), |path| {
        let report = report(path, &["--layer", "behavioral,project", "."]);
        let fine = fired(&report).is_empty() && report["verified"] == true;
        (!fine).then(|| format!("{}: {report:#}", path.display()))
    });
}

#[test]
#[ignore = "takes minutes"]
fn long_no_verdict_depends_on_confinement() {
    let all = ["traps", "violating"].into_iter().flat_map(fixtures).collect();
    walk(all, |path| {
        let confined = report(path, &["--layer", "behavioral", "./cli"]);
        unless_fired(path, &confined, fired(&checked(path)))
    });
}

/// Records a fixture.
///
/// # Errors
/// What the machine kept from a verdict.
fn record(path: &Path) -> Result<NamedTempFile, String> {
    let file = NamedTempFile::new().unwrap();
    let report = report(path, &[&["--record", file.path().to_str().unwrap()], &BEHAVIOUR[..]].concat());
    let unverified = messages(&report, "unverified");
    if unverified.contains(STARVED) { Err(unverified) } else { Ok(file) }
}

#[test]
fn the_recordings_are_current() {
    let all: Vec<PathBuf> = RECORDED.into_iter().flat_map(fixtures).collect();
    let names: BTreeSet<String> = all.iter().map(|path| corpus::name(path)).collect();
    if std::env::var_os("UPDATE").is_none() {
        assert_eq!(CORPUS.names(), names, "{}", corpus::COMMAND);
        return;
    }
    let corpus = Mutex::new(Corpus::read());
    let stale = all.into_iter().filter(|path| CORPUS.recording(path).is_err());
    walk(stale.collect(), |path| match record(path) {
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
fn long_each_fixture_gives_the_verdicts_of_its_recording() {
    walk(RECORDED.into_iter().flat_map(fixtures).collect(), |path| {
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
fn traps_are_silent() {
    walk(fixtures("traps"), silent);
}

#[test]
fn each_violation_fires_its_check_and_no_other() {
    let shown = Mutex::new(examples::kinds_shown());
    let id_of =
        |path: &Path| path.file_name().unwrap().to_str().unwrap().split('.').next().unwrap().to_owned();
    let all = fixtures("violating");
    // The first of each check is run.
    let live: BTreeMap<String, &PathBuf> = all.iter().rev().map(|path| (id_of(path), path)).collect();
    walk(all.clone(), |path| {
        let id = id_of(path);
        let report = if live[&id] == path { checked(path) } else { recorded(path) };
        for result in
            report["results"].as_array().unwrap().iter().filter(|result| result["id"] == id.as_str())
        {
            shown.lock().unwrap().extend(kinds(result).map(|kind| (id.clone(), kind.to_owned())));
        }
        unless_fired(path, &report, BTreeSet::from([id]))
    });
    // Those of a lock are the rules of `contract diff`, which have examples of their own; what is too deep is
    // too long for an example.
    let behavioral = checks()
        .iter()
        .filter(|check| check.layer == Layer::Behavioral && check.id != CheckId::P2ContractLocked);
    let shown = shown.into_inner().unwrap();
    let never: Vec<(String, String)> = behavioral
        .flat_map(|check| check.kinds.keys().map(|kind| (check.id.to_string(), kind.clone())))
        .filter(|(id, kind)| kind != "depth" && !shown.contains(&(id.clone(), kind.clone())))
        .collect();
    assert!(never.is_empty(), "no fixture and no example shows {never:?}");
}

#[test]
fn each_incident_is_found() {
    let all = table(&root().join("clis/incidents/expected.toml"));
    walk(fixtures("incidents"), |path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        unless_fired(path, &recorded(path), expected(all[name].as_table().unwrap()))
    });
}

#[test]
fn each_transcript_is_judged_as_it_was() {
    let recordings =
        entries("transcripts").into_iter().filter(|path| path.extension().is_some_and(|e| e == "jsonl"));
    walk(recordings.collect(), |path| {
        let report = report(&root(), &["--replay", path.to_str().unwrap()]);
        let expected = expected(&table(&path.with_extension("toml")));
        (fired(&report) != expected)
            .then(|| format!("{}: expected {expected:?}, got {report:#}", path.display()))
    });
}

#[test]
fn recordings_of_older_versions_give_the_verdicts_that_they_gave() {
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

/// Sampling interval of the fixtures.
const DRAWN: usize = 20;
/// Sampling interval of the checks that are run alone.
const ALONE: usize = 6;

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
    let drawn = fixtures("violating").into_iter().filter(names_command);
    let drawn = drawn.step_by(DRAWN).map(|path| copy.path().join(path.strip_prefix(root()).unwrap()));
    walk(drawn.collect(), |path| {
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
        for id in expected.keys().step_by(ALONE) {
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
