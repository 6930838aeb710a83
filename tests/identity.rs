//! Identity of probes and runs: different calls have different IDs, independent of the selected checks.

use crate::simulated_target::{
    Call, CallResult, conforming, exited, failure, record_probes, records, success,
};
use agentnative::catalogue::{Check, DerivedKind, checks};
use agentnative::check::{Recording, judge};
use agentnative::config::{Config, Contracts, Date, ValidationContext};
use agentnative::model::{CheckId, Layer, OutputFormat, Status, Variant};
use agentnative::probe::{self, Probe, TargetProfile};
use agentnative::run::{Changes, RunEnd, RunKey};
use agentnative::targets::Interface;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

/// A configuration with every key that derives a call, options with the same spelling, variables for options that are
/// derived anyway, and probes with the names of derived calls.
const EVERY_KEY: &str = r#"
    [target]
    schema = ['schema']
    usage = 2
    config_file = '.demo.toml'
    completions = ['completions', '{shell}']
    bundle_install = ['skill', 'install']
    unknown_command = true
    secret = { env = 'DEMO_TOKEN', file = ['--token-file', '{file}'], stdin = ['--token-stdin'] }
    [target.flags]
    quiet = ['--batch']
    no_input = ['--batch']
    no_pager = ['--no-pager']
    verbose = ['--verbose']
    [target.env]
    DEMO_TOKEN = 'x'
    [target.env_flags]
    '--quiet' = 'DEMO_QUIET'
    '--batch' = 'DEMO_BATCH'
    '--dry-run' = 'DEMO_DRY_RUN'
    '--output' = 'DEMO_OUTPUT'
    '--json' = 'DEMO_JSON'
    [[probe]]
    name = 'list'
    args = ['list']
    list = { items = '/data', max = 50 }
    secret = true
    [[probe]]
    name = '--help'
    args = ['--help']
    formats = ['text']
    [[probe]]
    name = 'list, invalid format'
    args = ['list', 'all', '--colour=always']
    [[probe]]
    name = 'list, --batch'
    args = ['list', '--batch']
    [[probe]]
    name = 'events'
    args = ['events']
    stream = true
    workspace = true
    interrupt = { after = 'x' }
    [[probe]]
    name = 'remove'
    args = ['remove', '1']
    workspace = true
    destructive = true
    idempotent = true
    [[probe]]
    name = 'add'
    args = ['add', '1']
    workspace = true
    changes = true
    formats = ['text', 'json']
    [[probe]]
    name = 'fetch'
    args = ['fetch', '{stalled}']
    secret = true
    [[probe]]
    name = 'lost'
    args = ['show', 'lost']
    exit = 1
"#;

const HELP: &[u8] = b"Usage: demo [OPTIONS] COMMAND

Commands:
  list  List
  show  Show one

Options:
  --colour <WHEN>  When to use colour [possible values: always, never]
  --output FORMAT  text, json or jsonl
  --no-pager       No pager [env: DEMO_NO_PAGER=]
";

fn behavioral() -> Vec<&'static Check> {
    checks().iter().filter(|check| check.layer == Layer::Behavioral).collect()
}

/// Returns the probes and the profile of a target with this configuration and [`HELP`].
fn target_of(config: &str) -> (Vec<Probe>, TargetProfile) {
    let contracts = &["dexter-flat"];
    let known = ValidationContext { checks: &[], contracts, today: Date { year: 2026, month: 11, day: 28 } };
    let config = Config::parse(config, Path::new("conf/agentnative.toml"), &known).unwrap();
    let target = &config.targets[0];
    let declared: Vec<Probe> = config.probes.iter().map(|probe| Probe::declared(probe, target)).collect();
    let mut profile = TargetProfile::from_config(target).with_help(&Interface::parse(HELP), &declared);
    profile.called_commands = vec![vec!["list".to_owned()], vec!["show".to_owned()]];
    profile.examples = vec![vec!["list".to_owned()], vec!["show".to_owned(), "1".to_owned()]];
    (declared, profile)
}

fn target() -> (Vec<Probe>, TargetProfile) {
    target_of(EVERY_KEY)
}

/// A target: what is special about it, its probes and its profile.
type Target = (&'static str, Vec<Probe>, TargetProfile);

const REVERSED: &str = "in reverse order";

/// Returns targets of different kinds.
fn targets() -> Vec<Target> {
    let target_with = |name, from: &str, to: &str| {
        let mut config = EVERY_KEY.replacen(from, to, 1);
        assert!(config != EVERY_KEY || from == to, "{name}");
        for format in ["text", "json"].into_iter().filter(|format| to.contains(&format!("{format} = false")))
        {
            config = config.replace(&format!("'{format}'"), "'jsonl'").replace("['jsonl', ", "[");
            if format == "json" {
                config = config.replace("    list = { items = '/data', max = 50 }\n", "");
            }
        }
        let (declared, profile) = target_of(&config);
        (name, declared, profile)
    };
    let target = "    [target]\n";
    let mut with_contract = target_with("with a contract", target, target);
    with_contract.2.contract = Some("dexter-flat".to_owned());
    for probe in with_contract.1.iter_mut().filter(|probe| !probe.runs_only_in_scenarios()) {
        probe.formats = vec![OutputFormat::Json];
        probe.call.contract = Contracts { json: with_contract.2.contract.clone(), jsonl: None };
    }
    let mut reversed = target_with(REVERSED, target, target);
    reversed.1.reverse();
    let mut changing = target_with("that changes in every call", target, target);
    changing.1.retain(|probe| probe.effect.is_some());
    vec![
        target_with("with every key", target, target),
        reversed,
        changing,
        with_contract,
        target_with(
            "with json as default",
            target,
            "    [target]\n    default_format = 'json'\n    formats.json = []\n",
        ),
        target_with("without text", target, "    [target]\n    formats.text = false\n"),
        target_with("without json", target, "    [target]\n    formats.json = false\n"),
        target_with("with a format in front", "args = ['list']\n", "args = ['{format}', 'list']\n"),
    ]
}

fn plan(checks: &[&Check]) -> (Vec<Probe>, Vec<RunKey>) {
    let (declared, profile) = target();
    probe::plan(checks, declared, &profile, Duration::from_secs(10))
}

/// Serializes everything that distinguishes a call from others, except for the names.
fn call_description(probe: &Probe, format: OutputFormat, profile: &TargetProfile) -> String {
    let nameless = Probe { name: String::new(), formats: Vec::new(), ..probe.clone() };
    let mut call = serde_json::to_value(&nameless).unwrap();
    call["args"] = probe.args_in(format, profile).into();
    call.as_object_mut().unwrap().remove("id");
    // The expectations of a call are not part of it.
    for key in ["asks_format", "exit", "result", "place", "effect", "remedy", "list", "stream", "contract"] {
        call.as_object_mut().unwrap().remove(key);
    }
    call.to_string()
}

#[test]
fn different_calls_have_different_identities_and_names() {
    let (_, profile) = target();
    let (probes, runs) = plan(&behavioral());
    let derived: BTreeSet<DerivedKind> = probes.iter().filter_map(|probe| probe.id.kind()).collect();
    let required: BTreeSet<DerivedKind> =
        behavioral().iter().flat_map(|check| check.derived.clone()).collect();
    // The calls of a locked interface depend on earlier runs.
    let of_runs = [DerivedKind::Interface, DerivedKind::VanishedOption];
    let missing = required.difference(&derived).filter(|kind| !of_runs.contains(kind));
    let missing: Vec<&DerivedKind> = missing.collect();
    assert!(missing.is_empty(), "the configuration derives no {missing:?}");

    let mut ids: BTreeMap<_, &Probe> = BTreeMap::new();
    for probe in &probes {
        if let Some(other) = ids.insert(&probe.id, probe) {
            panic!("`{}` and `{}` have the identity {:?}", other.name, probe.name, probe.id);
        }
    }
    let names: BTreeSet<&str> = probes.iter().map(|probe| probe.name.as_str()).collect();
    assert_eq!(names.len(), probes.len(), "two probes have one name");
    let keys: BTreeSet<&RunKey> = runs.iter().collect();
    assert_eq!(keys.len(), runs.len(), "a run is planned twice");
    // The ID selects the call even if another probe has its name.
    let description_of = |key: &RunKey| call_description(ids[&key.probe], key.format, &profile);
    let help = description_of(&probe::help_run());
    assert!(help.contains("\"args\":[\"--help\"]"), "{help}");
}

#[test]
fn the_runs_for_one_check_are_among_those_for_all() {
    let (_, profile) = target();
    let described = |checks: &[&Check]| -> BTreeMap<RunKey, String> {
        let (probes, runs) = plan(checks);
        let by_id: BTreeMap<_, &Probe> = probes.iter().map(|probe| (&probe.id, probe)).collect();
        let name_and_call = |key: &RunKey| {
            let probe = by_id[&key.probe];
            format!("{}: {}", probe.name, call_description(probe, key.format, &profile))
        };
        runs.iter()
            .flat_map(|key| key.replaced_run_keys().unwrap_or_else(|| vec![key.clone()]))
            .map(|key| {
                let described = name_and_call(&key);
                (key, described)
            })
            .collect()
    };
    let all = described(&behavioral());
    for check in behavioral() {
        for (key, description) in described(&[check]) {
            assert_eq!(all.get(&key), Some(&description), "{}: {key:?}", check.id);
        }
    }
}

/// A name, and the answer of a target with one defect; `None` if the defect does not affect the call.
type Defect = (&'static str, fn(&Call) -> Option<CallResult>);

fn is_json(call: &Call) -> bool {
    call.format == OutputFormat::Json
}

fn has(call: &Call, word: &str) -> bool {
    call.args.iter().any(|arg| arg == word)
}

/// Returns the answer of a conforming target with all commands of [`EVERY_KEY`].
fn demo(call: &Call) -> CallResult {
    let is_unknown = call.args.iter().any(|arg| arg.contains("agentnative-unknown"));
    let works = ["list", "events", "remove", "add", "fetch"];
    match call.args.iter().find(|arg| !arg.starts_with('-')).map(String::as_str) {
        _ if is_unknown || has(call, "--help") || has(call, "--version") || has(call, "lost") => {
            conforming(call)
        }
        Some("schema") => success("{\"type\":\"object\"}\n"),
        Some("completions") => success("complete -W 'list show' demo\n"),
        Some("skill") => success("installed\n"),
        Some("fetch") => failure(call, 1, "the server did not answer within 1 s"),
        Some(word) if works.contains(&word) => {
            success(records(call, &[r#"{"id":1,"name":"a"}"#, r#"{"id":2,"name":"b"}"#]))
        }
        _ => conforming(call),
    }
}

/// Adds to each run that changes, leaks and connections were observed, without any problem.
fn with_all_observed(mut recording: Recording) -> Recording {
    for run in &mut recording.observations {
        run.outcome.changes = Some(Changes::default());
        run.outcome.leaks = Some(Vec::new());
        run.outcome.connections = Some(1);
    }
    recording
}

/// Number of defects that are tried on all targets.
const DEFECTS_FOR_ALL_TARGETS: usize = 3;

const DEFECTS: [Defect; 13] = [
    ("none", |_| None),
    ("no json", |call| is_json(call).then(|| exited(2, "", "unknown format\n"))),
    ("json refused in a dry run", |call| {
        (has(call, "--dry-run") && is_json(call)).then(|| exited(2, "", "no such option\n"))
    }),
    ("prose before the document", |call| {
        is_json(call).then(|| success(format!("Loading\n{}", demo(call).0)))
    }),
    ("no jsonl", |call| (call.format == OutputFormat::Jsonl).then(|| exited(2, "", "unknown format\n"))),
    ("no dry run", |call| has(call, "--dry-run").then(|| exited(2, "", "no such option\n"))),
    ("a quiet option that drops the data", |call| has(call, "--batch").then(|| success(""))),
    ("a variable without an effect", |call| call.env.contains_key("DEMO_DRY_RUN").then(|| demo(call))),
    ("a hang", |call| {
        has(call, "events").then(|| CallResult(String::new(), String::new(), RunEnd::TimedOut))
    }),
    ("a crash in each run", |_| Some(CallResult(String::new(), "failed\n".to_owned(), RunEnd::Signaled(11)))),
    ("a wait for input", |call| {
        (call.variant == Variant::TerminalIn)
            .then(|| CallResult(String::new(), String::new(), RunEnd::Waited))
    }),
    ("a crash without a home", |call| {
        (call.variant == Variant::Bare)
            .then(|| CallResult(String::new(), String::new(), RunEnd::Signaled(11)))
    }),
    ("a traceback", |call| {
        has(call, "show")
            .then(|| exited(1, "", "Traceback (most recent call last):\n  File \"a\", line 1\nKeyError\n"))
    }),
];

type Verdicts = BTreeMap<CheckId, (Status, String)>;

fn verdicts(recording: &Recording, checks: &[&Check]) -> Verdicts {
    let results = judge(recording, checks).unwrap().results.into_iter();
    results.map(|result| (result.id, (result.status, result.message))).collect()
}

/// Describes the verdicts that have another status in `other` than in `all`, the verdicts of all checks together.
fn differences(how: &str, all: &Verdicts, other: &Verdicts) -> Vec<String> {
    let differs = |(id, (status, message)): (&CheckId, &(Status, String))| {
        let (expected, why) = &all[id];
        (status != expected)
            .then(|| format!("{how}: {id} is {status:?} ({message}), with all checks {expected:?} ({why})"))
    };
    other.iter().filter_map(differs).collect()
}

#[test]
fn each_check_has_the_same_verdict_alone_with_all_and_in_any_order_of_the_probes() {
    let all = behavioral();
    let each = || all.iter().map(std::slice::from_ref);
    let targets = targets();
    let mut wrong = Vec::new();
    for (index, (name, defect)) in DEFECTS.iter().enumerate() {
        let record = |(_, declared, profile): &Target, checks: &[&Check]| {
            let target = |call: &Call| defect(call).unwrap_or_else(|| demo(call));
            with_all_observed(record_probes(declared.clone(), profile.clone(), checks, target))
        };
        let first_recording = record(&targets[0], &all);
        let expected = verdicts(&first_recording, &all);
        let replayed = each().flat_map(|check| verdicts(&first_recording, check)).collect();
        wrong.extend(differences(&format!("{name}, replayed"), &expected, &replayed));
        // Most defects have the same effect on every target.
        for target in &targets[..if index < DEFECTS_FOR_ALL_TARGETS { targets.len() } else { 1 }] {
            let with_all = verdicts(&record(target, &all), &all);
            let alone = each().flat_map(|check| verdicts(&record(target, check), check)).collect();
            wrong.extend(differences(&format!("a target {}, {name}, alone", target.0), &with_all, &alone));
            if target.0 == REVERSED {
                wrong.extend(differences(&format!("{name}, {REVERSED}"), &expected, &with_all));
            }
        }
    }
    assert!(wrong.is_empty(), "{} verdicts differ:\n{}", wrong.len(), wrong.join("\n"));
}
