//! Judging explored calls: each is judged alone, and the verdict of a check combines the judgements.

use crate::simulated_target::{Call, CallResult, exited, failure, record_explored, records, success};
use agentnative::catalogue::{Check, DerivedKind, ExploredPolicy, checks};
use agentnative::check::{Recording, judge};
use agentnative::config::{CommonOption, Config, Date, FormatFlag, ValidationContext, Workspace};
use agentnative::model::{
    CallGroup, CallOutcome, CheckId, CheckResult, Exploration, ExploredOrigin, FoundCommand, Layer,
    OutputFormat, ProbeId, Status, Variant,
};
use agentnative::probe::{self, Probe, TargetProfile};
use agentnative::run::{RunEnd, RunKey};
use agentnative::targets::Interface;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

const HELP: &[u8] = b"Usage: demo COMMAND\n\nCommands:\n  list  List\n  show  Show one\n  count  Count\n\nOptions:\n  --verbose  Print details\n";

fn behavioral() -> Vec<&'static Check> {
    checks().iter().filter(|check| check.layer == Layer::Behavioral).collect()
}

/// Returns the declared probes and the profile of a target with this configuration.
fn target(config: &str) -> (Vec<Probe>, TargetProfile) {
    let today = Date { year: 2026, month: 11, day: 28 };
    let known = ValidationContext { checks: &[], contracts: &[], today };
    let config = Config::parse(config, Path::new("conf/agentnative.toml"), &known).unwrap();
    let target = &config.targets[0];
    let declared: Vec<Probe> = config.probes.iter().map(|probe| Probe::declared(probe, target)).collect();
    let mut profile = TargetProfile::from_config(target).with_help(&Interface::parse(HELP), &declared);
    profile.called_commands = ["list", "show", "count"].map(|command| vec![command.to_owned()]).into();
    (declared, profile)
}

/// Returns a declared probe as a pattern for explored ones, and the profile of a target without declared probes.
fn bare() -> (Probe, TargetProfile) {
    let (mut probes, _) = target("[target]\n[[probe]]\nname = 'list'\nargs = ['list']\n");
    (probes.remove(0), target("[target]\n").1)
}

/// Returns an explored call. Its command is its first word, and it accepts `--output json` if it succeeds.
fn explored(line: &str, outcome: CallOutcome, exit: Option<i32>, is_kept: bool) -> Probe {
    let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let command: Vec<String> = args.iter().take_while(|arg| !arg.starts_with('-')).take(1).cloned().collect();
    let group = if outcome == CallOutcome::Invalid { CallGroup::Invalid } else { CallGroup::Commands };
    let invalid = args.iter().find(|arg| arg.contains("agentnative-unknown")).cloned();
    let (mut probe, _) = bare();
    let json = FormatFlag::Given(vec!["--output".to_owned(), "json".to_owned()]);
    probe.id = ProbeId::Explored { explored: args.clone(), stdin: None };
    probe.name = line.to_owned();
    probe.exit = exit;
    probe.formats = vec![OutputFormat::Text, OutputFormat::Json];
    probe.call.args = args;
    probe.call.workspace = Some(Workspace::Empty);
    probe.call.format_flags = [
        (OutputFormat::Text, FormatFlag::Given(Vec::new())),
        (OutputFormat::Json, json),
        (OutputFormat::Jsonl, FormatFlag::Absent),
    ]
    .into();
    probe.call.flags =
        CommonOption::ALL.into_iter().map(|option| (option, FormatFlag::Unspecified)).collect();
    let origin =
        ExploredOrigin { command, group, outcome, is_kept, only_reads: false, invalid, values: Vec::new() };
    probe.explored = Some(origin);
    probe
}

fn succeeded(line: &str) -> Probe {
    explored(line, CallOutcome::Succeeded, Some(0), true)
}

fn invalid(line: &str) -> Probe {
    explored(line, CallOutcome::Invalid, Some(2), true)
}

fn exploration(commands: &[&str]) -> Exploration {
    let found =
        |command: &&str| FoundCommand { words: vec![(*command).to_owned()], ..FoundCommand::default() };
    Exploration { commands: commands.iter().map(found).collect(), budget: 600, ..Exploration::default() }
}

const COMMANDS: [&str; 3] = ["list", "show", "count"];

/// Answers like a conforming target with the commands of [`HELP`].
fn demo(call: &Call) -> CallResult {
    let has = |word: &str| call.args.iter().any(|arg| arg == word);
    let first = call.args.iter().find(|arg| !arg.starts_with('-')).map(String::as_str).unwrap_or_default();
    if has("--help") {
        return success(match COMMANDS.contains(&first) {
            true => format!("Usage: demo {first} [--output FORMAT]\n\nExamples:\n  demo {first}\n"),
            false => format!("{}\nExamples:\n  demo list\n  demo count\n", String::from_utf8_lossy(HELP)),
        });
    }
    if has("--version") {
        return success("demo 1\n");
    }
    if call.variant == Variant::Full {
        return failure(call, 1, "no space left");
    }
    if let Some(wrong) = call.args.iter().find(|arg| arg.contains("agentnative-unknown")) {
        let known = if wrong.contains("format") { "; expected text, json or jsonl" } else { "" };
        return failure(call, 2, &format!("unknown: {wrong}{known}"));
    }
    match COMMANDS.contains(&first) {
        true => success(records(call, &[r#"{"id":1,"name":"a"}"#, r#"{"id":2,"name":"b"}"#])),
        false => failure(call, 2, &format!("unknown command {first}")),
    }
}

/// Explored calls of a target without declared probes.
fn usual_calls() -> Vec<Probe> {
    ["list", "list all", "show 1", "count"]
        .map(succeeded)
        .into_iter()
        .chain(["list --agentnative-unknown-value", "show", "count --agentnative-unknown-value"].map(
            |line| {
                let mut probe = invalid(line);
                if line == "show" {
                    probe.id = ProbeId::Explored { explored: vec!["show".into()], stdin: None };
                }
                probe
            },
        ))
        .collect()
}

fn record_all(sources: Vec<Probe>, answer: impl Fn(&Call) -> CallResult) -> Recording {
    let answer = |call: &Call| match call.args.iter().filter(|arg| !arg.starts_with('-')).count() {
        1 | 2 if call.args[0] == "show" && call.args.get(1).is_none_or(|arg| arg == "--output") => {
            failure(call, 2, "missing ID")
        }
        _ => answer(call),
    };
    record_explored(sources, Some(exploration(&COMMANDS)), bare().1, &behavioral(), answer)
}

fn result_of(recording: &Recording, id: CheckId) -> CheckResult {
    judge(recording, &[id.check()]).unwrap().results.remove(0)
}

fn statuses(recording: &Recording) -> Vec<(CheckId, Status)> {
    let report = judge(recording, &behavioral()).unwrap();
    report.results.into_iter().map(|result| (result.id, result.status)).collect()
}

#[test]
fn a_conforming_target_fails_nothing_and_passes_checks_on_explored_calls() {
    let recording = record_all(usual_calls(), demo);
    let report = judge(&recording, &behavioral()).unwrap();
    let mut passed = BTreeSet::new();
    for result in &report.results {
        let is_problem = matches!(result.status, Status::Fail | Status::Warn);
        assert!(!is_problem, "{}: {}: {:?}", result.id, result.message, result.evidence);
        if result.status == Status::Pass && result.message.contains("held in") {
            passed.insert(result.id);
        }
    }
    use CheckId::{
        P1NoPrompt, P2BrokenPipe, P2Completes, P2ErrorJson, P2ExitConsistent, P2ExitSuccess, P2ExitUsage,
        P2JsonStrict, P2OutputComplete, P2OutputJson, P2OutputPure, P2OutputStable, P2StderrDiagnostics,
        P3CommandHelp, P4NamesCulprit, P4NoTraceback, P4UnknownFlag, P6NoColor,
    };
    let expected = [
        P1NoPrompt,
        P2BrokenPipe,
        P2Completes,
        P2ErrorJson,
        P2ExitConsistent,
        P2ExitSuccess,
        P2ExitUsage,
        P2JsonStrict,
        P2OutputComplete,
        P2OutputJson,
        P2OutputPure,
        P2OutputStable,
        P2StderrDiagnostics,
        P3CommandHelp,
        P4NamesCulprit,
        P4NoTraceback,
        P4UnknownFlag,
        P6NoColor,
    ];
    let messages: Vec<_> =
        report.results.iter().map(|result| (result.id, result.status, &result.message)).collect();
    for id in expected {
        assert!(passed.contains(&id), "{id} does not pass on explored calls: {messages:#?}");
    }
    assert!(passed.iter().all(|id| id.check().explored != ExploredPolicy::Ignored));
}

#[test]
fn a_verdict_needs_three_calls_of_two_commands() {
    let message = |lines: &[&str], commands: &[&str]| {
        let sources = lines.iter().copied().map(succeeded).collect();
        let exploration = Some(exploration(commands));
        let check = [CheckId::P2OutputJson.check()];
        let recording = record_explored(sources, exploration, bare().1, &check, demo);
        let result = result_of(&recording, CheckId::P2OutputJson);
        (result.status, result.message)
    };
    let (status, text) = message(&["list", "list all", "count"], &COMMANDS);
    assert_eq!((status, &*text), (Status::Pass, "held in 3 explored calls of 2 commands"));
    let (status, text) = message(&["list", "count"], &COMMANDS);
    assert_eq!(status, Status::Unverified);
    assert!(
        text.starts_with("held in 2 explored calls of 2 commands; a verdict needs 3 calls of 2 commands"),
        "{text}"
    );
    let (status, text) = message(&["list", "list all", "list more"], &COMMANDS);
    assert_eq!(status, Status::Unverified);
    assert!(text.starts_with("held in 3 explored calls of 1 command; a verdict needs"), "{text}");
    // A target with one command.
    let (status, text) = message(&["list", "list all", "list more"], &["list"]);
    assert_eq!((status, &*text), (Status::Pass, "held in 3 explored calls of 1 command"));
}

#[test]
fn nothing_passes_on_an_exploration_that_ended_early() {
    let mut recording = record_all(usual_calls(), demo);
    recording.exploration.as_mut().unwrap().incomplete = Some("120 s have passed".to_owned());
    let result = result_of(&recording, CheckId::P2OutputJson);
    assert_eq!(result.status, Status::Unverified);
    assert!(result.message.starts_with("exploration ended early: 120 s have passed"), "{}", result.message);
}

/// Returns the checks with a problem, and the lines of the evidence of the first.
fn problems(recording: &Recording) -> Vec<(CheckId, Vec<String>)> {
    let results = judge(recording, &behavioral()).unwrap().results.into_iter();
    let problems = results.filter(|result| matches!(result.status, Status::Fail | Status::Warn));
    let probes = |result: &CheckResult| result.evidence.iter().filter_map(|e| e.probe.clone()).collect();
    problems.map(|result| (result.id, probes(&result))).collect()
}

/// A fault of one explored call: the check that reports it, and the answer of the target.
type ExploredFault = (CheckId, fn(&Call) -> Option<CallResult>);

fn begins(call: &Call, words: &[&str]) -> bool {
    call.args.iter().map(String::as_str).take(words.len()).eq(words.iter().copied())
}

fn has(call: &Call, word: &str) -> bool {
    call.args.iter().any(|arg| arg == word)
}

const FAULTS: [ExploredFault; 12] = [
    (CheckId::P2OutputJson, |call| {
        let is_json = begins(call, &["show", "1"]) && call.format == OutputFormat::Json;
        (is_json && call.args.len() == 4 && call.variant != Variant::Full).then(|| success("{\"ok\":true,\n"))
    }),
    (CheckId::P4UnknownFlag, |call| {
        let unknown = has(call, "--agentnative-unknown-flag") && begins(call, &["count"]);
        unknown.then(|| success("2\n"))
    }),
    (CheckId::P2ExitUsage, |call| {
        let wrong = call.args.iter().find(|arg| arg.contains("unknown-value"))?;
        begins(call, &["count"]).then(|| failure(call, 1, &format!("unknown: {wrong}")))
    }),
    (CheckId::P4NamesCulprit, |call| {
        let unknown = has(call, "--agentnative-unknown-flag") && begins(call, &["count"]);
        unknown.then(|| failure(call, 2, "wrong arguments"))
    }),
    (CheckId::P4NoTraceback, |call| {
        let trace = "Traceback (most recent call last):\n  File \"/demo\", line 1, in main\nValueError: count --agentnative-unknown-value\n";
        let is_text =
            begins(call, &["count", "--agentnative-unknown-value"]) && call.format == OutputFormat::Text;
        is_text.then(|| exited(2, "", trace))
    }),
    (CheckId::P1NoPrompt, |call| {
        let is_plain = call.variant == Variant::Plain && call.args == ["list", "hangs"];
        is_plain.then(|| CallResult(String::new(), "Name? ".to_owned(), RunEnd::Waited))
    }),
    (CheckId::P2ExitConsistent, |call| {
        (call.args == ["list", "hangs"])
            .then(|| CallResult(String::new(), String::new(), RunEnd::Signaled(11)))
    }),
    (CheckId::P2ErrorJson, |call| {
        let wrong = call.args.iter().any(|arg| arg.contains("unknown-value"));
        let is_json = wrong && begins(call, &["list"]) && call.format == OutputFormat::Json;
        is_json.then(|| exited(2, "", "unknown: --agentnative-unknown-value\n"))
    }),
    (CheckId::P3CommandHelp, |call| {
        (call.args == ["count", "--help"]).then(|| failure(call, 2, "unknown option --help"))
    }),
    (CheckId::P2BrokenPipe, |call| {
        let is_closed = call.variant == Variant::ClosedPipe && begins(call, &["count"]);
        is_closed.then(|| CallResult(String::new(), String::new(), RunEnd::Signaled(6)))
    }),
    (CheckId::P2StderrDiagnostics, |call| {
        let wrong =
            begins(call, &["list", "--agentnative-unknown-value"]) && call.format == OutputFormat::Text;
        wrong.then(|| exited(2, "unknown: --agentnative-unknown-value\n", ""))
    }),
    (CheckId::P2OutputPure, |call| {
        let is_tty =
            begins(call, &["count"]) && call.format == OutputFormat::Json && call.variant == Variant::Tty;
        is_tty.then(|| success("\u{1b}[1m{\"ok\":true,\"data\":[]}\u{1b}[0m\n"))
    }),
];

#[test]
fn one_fault_of_one_call_fails_its_check_and_no_other() {
    let calls = || {
        let mut calls = usual_calls();
        calls.push(explored("list hangs", CallOutcome::Died, None, false));
        calls
    };
    assert_eq!(problems(&record_all(calls(), demo)), []);
    let mut wrong = Vec::new();
    for (nth, (check, fault)) in FAULTS.iter().enumerate() {
        let recording = record_all(calls(), |call| fault(call).unwrap_or_else(|| demo(call)));
        let found = problems(&recording);
        if found.len() != 1 || found[0].0 != *check {
            wrong.push(format!(
                "fault {nth} of {check}: {found:?}: {}",
                result_of(&recording, *check).message
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn unusual_calls_are_no_problems() {
    let quiet = |line: &str| {
        let mut probe = succeeded(line);
        let option = FormatFlag::Given(vec!["--quiet".to_owned()]);
        probe.call.flags.insert(CommonOption::Quiet, option);
        probe
    };
    let mut calls = usual_calls();
    calls.push(explored("list nothing", CallOutcome::Unexplained, Some(1), true));
    calls.push(explored("list far", CallOutcome::NotReachable, Some(7), true));
    calls.push(explored("list slow", CallOutcome::TimedOut, None, false));
    calls.push(explored("list agentnative-unknown-command", CallOutcome::Accepted, None, false));
    calls.push(explored("list silent", CallOutcome::Silent, None, false));
    calls.push(quiet("count all"));
    calls.push(succeeded("list shell"));
    calls.push(succeeded("list files"));
    calls.push(explored("list problems", CallOutcome::Refused, Some(1), true));
    let answer = |call: &Call| match call.args.get(1).map(String::as_str) {
        _ if has(call, "--quiet") => success(""),
        // A word behind the arguments is taken for a file.
        Some("files") if has(call, "--agentnative-unknown-flag") => {
            let printed = records(call, &[r#"{"id":1,"name":"a"}"#, r#"{"id":2,"name":"b"}"#]);
            exited(1, format!("{printed}--agentnative-unknown-flag - invalid\n"), "")
        }
        Some("problems") if call.format == OutputFormat::Json => exited(1, "", "[{\"line\":1}]\n"),
        Some("problems") => exited(1, "", "demo: line 1\n"),
        Some("nothing") => exited(1, "", ""),
        Some("far") => exited(7, "", ""),
        Some("slow") => CallResult(String::new(), String::new(), RunEnd::TimedOut),
        Some("agentnative-unknown-command") => success("agentnative-unknown-command\n"),
        Some("silent") => success(""),
        Some("shell") if call.format == OutputFormat::Text && call.variant == Variant::OpenStdin => {
            CallResult("demo 1\n> ".to_owned(), String::new(), RunEnd::Waited)
        }
        _ => demo(call),
    };
    assert_eq!(problems(&record_all(calls, answer)), []);
}

#[test]
fn the_runs_that_explored_calls_request_are_made() {
    let is_other = |call: &Call| begins(call, &["count"]) && call.format == OutputFormat::Json;
    let recording = record_all(usual_calls(), |call| match is_other(call) {
        true if call.args.len() == 3 => exited(3, "{\"data\":[]}\n", ""),
        _ => demo(call),
    });
    let repeated = RunKey { variant: Variant::Repeat, ..succeeded("count").plain_run(OutputFormat::Text) };
    assert!(recording.observations.iter().any(|run| run.key == repeated));
    assert_eq!(result_of(&recording, CheckId::P2ExitConsistent).status, Status::Fail);
}

#[test]
fn an_ignored_check_is_judged_without_explored_calls() {
    // Each call that fails exits with 1, and prints a message without a remedy.
    let mut sources = usual_calls();
    sources.push(explored("show lost", CallOutcome::Refused, Some(3), true));
    let answer = |call: &Call| match call.args.starts_with(&["show".to_owned(), "lost".to_owned()]) {
        true => failure(call, 3, "no such record"),
        false => demo(call),
    };
    let recording = record_all(sources, answer);
    let alone = record_all(Vec::new(), answer);
    for check in behavioral().into_iter().filter(|check| check.explored == ExploredPolicy::Ignored) {
        let (with, without) = (result_of(&recording, check.id), result_of(&alone, check.id));
        assert_eq!((with.status, with.message), (without.status, without.message), "{}", check.id);
    }
}

#[test]
fn a_pass_only_check_does_not_fail_on_explored_calls() {
    let reading = |line: &str| {
        let mut probe = succeeded(line);
        probe.explored.as_mut().unwrap().only_reads = true;
        probe
    };
    let mut recording = record_all(["list", "list all", "count"].map(reading).into(), demo);
    let observed = |recording: &mut Recording, line: &str, changes| {
        let runs = recording.observations.iter_mut();
        let id = reading(line).id;
        runs.filter(|run| run.key.probe == id)
            .for_each(|run| run.outcome.changes = Some(changes_of(changes)));
    };
    for line in ["list", "list all", "count"] {
        observed(&mut recording, line, false);
    }
    let result = result_of(&recording, CheckId::P5ReadOnly);
    assert_eq!((result.status, &*result.message), (Status::Pass, "held in 3 explored calls of 2 commands"));
    observed(&mut recording, "list", true);
    let result = result_of(&recording, CheckId::P5ReadOnly);
    assert_eq!(result.status, Status::Unverified);
    assert!(
        result.message.starts_with("an explored call may be meant to do so: the call creates"),
        "{}",
        result.message
    );
}

fn changes_of(any: bool) -> agentnative::run::Changes {
    use agentnative::run::{Area, Changes, FileChange, FileEntry};
    let entry: FileEntry = serde_json::from_str(r#"{"kind":"file","mode":420}"#).unwrap();
    let change =
        FileChange { area: Area::Workspace, path: "new.txt".to_owned(), before: None, after: Some(entry) };
    let list: Vec<FileChange> = any.then_some(change).into_iter().collect();
    Changes { count: list.len(), list }
}

const DECLARED: &str = "[target]\n[[probe]]\nname = 'declared'\nargs = ['list', 'x']\n[[probe]]\nname = 'fails'\nargs = ['other']\nexit = 2\n";

#[test]
fn declared_probes_decide_without_explored_calls_and_are_reported_with_them() {
    let (declared, profile) = target(DECLARED);
    let record = |sources: Vec<Probe>, answer: fn(&Call) -> CallResult| {
        let explored = sources.iter().any(|probe| probe.explored.is_some());
        let exploration = explored.then(|| exploration(&COMMANDS));
        record_explored(sources, exploration, profile.clone(), &behavioral(), answer)
    };
    let both = || declared.clone().into_iter().chain([succeeded("list"), succeeded("count")]).collect();
    let (alone, with) = (record(declared.clone(), demo), record(both(), demo));
    let result = result_of(&with, CheckId::P2OutputJson);
    assert_eq!(result.status, Status::Pass);
    assert!(result.message.ends_with("; held in 2 explored calls of 2 commands"), "{}", result.message);
    assert_eq!(statuses(&alone), statuses(&with));
    // A fault of a declared probe fails the check, whatever the explored calls show; and the other way round.
    fn broken(call: &Call, word: &str) -> CallResult {
        let is_broken = call.format == OutputFormat::Json && call.args.iter().any(|arg| arg == word);
        if is_broken { success("{") } else { demo(call) }
    }
    let result = result_of(&record(both(), |call| broken(call, "x")), CheckId::P2OutputJson);
    assert_eq!(result.status, Status::Fail);
    let result = result_of(&record(both(), |call| broken(call, "count")), CheckId::P2OutputJson);
    assert_eq!(result.status, Status::Fail);
    assert!(result.evidence.iter().all(|evidence| evidence.probe.as_deref() == Some("count")));
}

#[test]
fn verdicts_depend_neither_on_the_selection_nor_on_the_order_of_explored_calls() {
    let answer = |call: &Call| match call.args.first().map(String::as_str) {
        Some("count") if call.variant == Variant::ClosedPipe => {
            CallResult(String::new(), String::new(), RunEnd::Signaled(11))
        }
        Some("show") if call.format == OutputFormat::Json => exited(0, "[1,", ""),
        _ => demo(call),
    };
    let all = record_all(usual_calls(), answer);
    let expected = statuses(&all);
    assert!(expected.contains(&(CheckId::P2BrokenPipe, Status::Fail)));
    for (id, status) in &expected {
        assert_eq!(result_of(&all, *id).status, *status, "{id} alone");
    }
    let reversed = record_all(usual_calls().into_iter().rev().collect(), answer);
    assert_eq!(statuses(&reversed), expected);
}

#[test]
fn only_kept_calls_run_under_all_conditions() {
    let mut sources = usual_calls();
    sources.push(explored("list tried", CallOutcome::Succeeded, Some(0), false));
    sources.push(explored("list never", CallOutcome::NotMade, None, false));
    let (_, profile) = bare();
    let (probes, runs) = probe::plan(&behavioral(), sources, &profile, Duration::from_secs(1));
    let runs_of = |line: &str| -> Vec<&RunKey> {
        let id = succeeded(line).id;
        runs.iter().filter(|run| run.probe == id || run.probe.from() == Some(line)).collect()
    };
    assert!(
        runs_of("list tried").iter().all(|run| run.variant == Variant::Plain && run.probe.from().is_none())
    );
    assert_eq!(runs_of("list tried").len(), 2, "in text and json");
    assert_eq!(runs_of("list never").len(), 0);
    assert!(runs_of("list all").iter().any(|run| run.variant == Variant::ClosedPipe));
    // The call without a format is the same as that in text.
    assert!(!probes.iter().any(|probe| probe.explored.is_some() && probe.is_kind(DerivedKind::NoFormat)));
    let pages = probes.iter().filter(|probe| probe.is_kind(DerivedKind::CommandHelp));
    assert!(pages.clone().all(|page| page.explored.is_some() && page.source().is_none()));
    assert_eq!(pages.count(), COMMANDS.len());
}

#[test]
fn derived_calls_of_explored_probes_are_unique_and_survive_a_recording() {
    let (declared, _) = target(DECLARED);
    let mut sources = declared;
    sources.extend(usual_calls());
    sources.push(succeeded("list, invalid format"));
    sources.push(succeeded("declared, no format"));
    let recording = record_all(sources, demo);
    let ids: BTreeSet<&ProbeId> = recording.probes.iter().map(|probe| &probe.id).collect();
    let names: BTreeSet<&str> = recording.probes.iter().map(|probe| probe.name.as_str()).collect();
    assert_eq!((ids.len(), names.len()), (recording.probes.len(), recording.probes.len()));
    for probe in &recording.probes {
        let source =
            probe.source().and_then(|name| recording.probes.iter().find(|source| source.name == name));
        assert_eq!(
            source.is_some_and(|source| source.explored.is_some()),
            probe.explored.is_some() && source.is_some()
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recording.jsonl");
    recording.write(std::fs::File::create(&path).unwrap(), &path).unwrap();
    let read = Recording::read(&path).unwrap();
    assert_eq!(read.probes, recording.probes);
    assert_eq!(read.exploration, recording.exploration);
    assert_eq!(statuses(&read), statuses(&recording));
}

#[test]
#[ignore = "a measurement"]
fn long_a_recording_with_many_explored_calls_is_judged_quickly() {
    let kept = |nth: usize| nth.is_multiple_of(40);
    let line = |nth: usize| format!("{} {nth}", COMMANDS[nth % 3]);
    let mut sources: Vec<Probe> = (0..1500).map(|nth| succeeded(&line(nth))).collect();
    for (nth, probe) in sources.iter_mut().enumerate() {
        probe.explored.as_mut().unwrap().is_kept = kept(nth);
    }
    let start = std::time::Instant::now();
    let recording = record_all(sources, demo);
    let recorded = start.elapsed();
    let start = std::time::Instant::now();
    let report = judge(&recording, &behavioral()).unwrap();
    println!(
        "{} runs: recorded in {recorded:?}, judged in {:?}",
        recording.observations.len(),
        start.elapsed()
    );
    assert!(report.results.iter().all(|result| !matches!(result.status, Status::Fail)));
}

#[test]
fn a_feature_that_no_page_names_and_a_call_rejects_is_absent() {
    let features = [
        (DerivedKind::Completions, CheckId::P6Completions, "completions bash", "prints none"),
        (DerivedKind::Schema, CheckId::P2SchemaPrint, "schema", "prints none"),
        (DerivedKind::Quiet, CheckId::P7Quiet, "list --quiet", "fails"),
    ];
    for (feature, check, call, effect) in features {
        let mut sources = usual_calls();
        sources.push(explored(call, CallOutcome::Refused, Some(2), false));
        let answer = |given: &Call| match call.split(' ').eq(given.args.iter().map(String::as_str)) {
            true => failure(given, 2, "not known"),
            false => demo(given),
        };
        let mut recording = record_all(sources.clone(), answer);
        recording.profile.known_formats.push(OutputFormat::Json);
        let without = result_of(&recording, check);
        assert!(!without.message.contains(&format!("`{call}` {effect}")), "{check}: {}", without.message);
        let exploration = recording.exploration.as_mut().unwrap();
        exploration.absent_features.insert(feature, call.to_owned());
        let result = result_of(&recording, check);
        assert_eq!(result.status, Status::Fail, "{check}: {}", result.message);
        assert!(result.message.contains(&format!("`{call}` {effect}")), "{check}: {}", result.message);
        // Without a help page, the feature may be documented elsewhere.
        let no_page = |given: &Call| match given.args.first().map(String::as_str) {
            Some("--help") => failure(given, 2, "no configuration"),
            _ => answer(given),
        };
        let mut recording = record_all(sources, no_page);
        recording.profile.known_formats.push(OutputFormat::Json);
        let exploration = recording.exploration.as_mut().unwrap();
        exploration.absent_features.insert(feature, call.to_owned());
        let result = result_of(&recording, check);
        assert_ne!(result.status, Status::Fail, "{check}: {}", result.message);
    }
}
