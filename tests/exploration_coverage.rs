//! The coverage of an exploration: its numbers, and its place in each report format.

use crate::render::TEXT;
use crate::simulated_target::{PROBES, conforming, observation, record, success};
use agentnative::catalogue::Check;
use agentnative::check::{Judged, Recording, judge};
use agentnative::config::FormatFlag;
use agentnative::model::{
    CallGroup, CallOutcome, CheckId, Exploration, ExplorationCoverage, ExploredOrigin, FoundCommand,
    OutputFormat, ProbeId,
};
use agentnative::output::{RENDERERS, ReportView};
use agentnative::probe::Probe;
use agentnative::report::{MergedReport, Report, Reports, SummaryEvent, without_replaced_verdicts};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use strict_json::sanitize;

/// The command with a control character and markup in its name.
const HOSTILE: &str = "sh\u{1b}[31mow<b>\u{202e}";

fn words(text: &str) -> Vec<String> {
    text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Returns a recording with these explored calls, each with a run, and the probes of [`PROBES`]. A call consists of its
/// command, its further arguments, its group, its outcome, and whether it was kept.
fn explored(exploration: Exploration, calls: &[(&str, &str, CallGroup, CallOutcome, bool)]) -> Recording {
    let mut recording = record(PROBES, &checks(), conforming);
    let declared = recording.probes[0].clone();
    for (command, further, group, outcome, is_kept) in calls {
        let args = words(&format!("{command} {further}"));
        let origin = ExploredOrigin {
            command: words(command),
            group: *group,
            outcome: *outcome,
            is_kept: *is_kept,
            only_reads: true,
            invalid: None,
            values: Vec::new(),
        };
        let mut probe = Probe {
            id: ProbeId::Explored { explored: args.clone(), stdin: None },
            name: format!("tried {}", args.join(" ")),
            formats: vec![OutputFormat::Text],
            explored: Some(origin),
            ..declared.clone().with_args(args)
        };
        probe.call.format_flags.insert(OutputFormat::Text, FormatFlag::Given(Vec::new()));
        let run =
            observation(probe.plain_run(OutputFormat::Text), probe.call.args.clone(), success("explored\n"));
        recording.probes.push(probe);
        recording.observations.push(run);
    }
    recording.exploration = Some(exploration);
    recording
}

fn checks() -> [&'static Check; 1] {
    [CheckId::P2ExitSuccess.check()]
}

fn command(name: &str, options: &[&[&str]]) -> FoundCommand {
    let options = options.iter().map(|names| names.iter().map(|name| (*name).to_owned()).collect());
    FoundCommand { words: words(name), options: options.collect(), ..FoundCommand::default() }
}

/// Returns the recording of an exploration with a command of each kind.
fn recording() -> Recording {
    use CallGroup::{Arguments, Commands, Hallucinated, Invalid};
    use CallOutcome::{Died, NotMade, NotReachable, Refused, Succeeded, TimedOut};
    let exploration = Exploration {
        absent_formats: BTreeMap::new(),
        absent_features: BTreeMap::new(),
        commands: vec![
            command("issue list", &[&["-l", "--limit"], &["--state"], &["--dry-run"], &["--web"]]),
            command(HOSTILE, &[&["--all"]]),
            FoundCommand {
                not_called: Some("the configuration\u{1b}[2J excludes it".to_owned()),
                ..command("auth login", &[])
            },
            FoundCommand { is_unknown: true, ..command("gone", &[]) },
            command("late", &[]),
        ],
        budget: 600,
        made: 9,
        incomplete: Some("the time limit of 120 s ended it\n::error::after 9 calls".to_owned()),
        notes: vec!["the help of `late` was not read".to_owned()],
    };
    let mut recording = explored(
        exploration,
        &[
            ("issue list", "", Commands, Succeeded, true),
            ("issue list", "--state=x", Invalid, CallOutcome::Invalid, false),
            ("issue list", "--limit -- --web", Hallucinated, Died, false),
            (HOSTILE, "7", Arguments, Refused, false),
            (HOSTILE, "", Commands, TimedOut, false),
            ("issue", "agentnative-unknown-command", Invalid, CallOutcome::Invalid, false),
            ("remote", "", Commands, NotReachable, false),
            ("gone", "", Commands, Refused, false),
            ("late", "", Commands, NotMade, false),
        ],
    );
    // A call that is derived from an explored one, and a further format.
    let source =
        recording.probes.iter_mut().find(|probe| probe.is_source() && probe.explored.is_some()).unwrap();
    source.formats.push(OutputFormat::Json);
    let derived = Probe {
        id: serde_json::from_value(json!({ "kind": "dry-run", "from": source.name })).unwrap(),
        name: "issue list, --dry-run".to_owned(),
        ..source.clone().with_args(words("issue list --dry-run"))
    };
    recording.probes.push(derived);
    recording
}

fn report(recording: &Recording) -> Report {
    judge(recording, &checks()).unwrap()
}

fn coverage(recording: &Recording) -> ExplorationCoverage {
    report(recording).coverage.unwrap()
}

fn judged(recording: Recording) -> Judged {
    Judged { report: report(&recording), recording: Some(recording), elapsed: None }
}

/// Renders the report of the explored target in a format.
fn rendered(format: &str, verbose: bool) -> String {
    render(format, &[judged(recording())], verbose)
}

fn render(format: &str, judged: &[Judged], verbose: bool) -> String {
    let renderer = RENDERERS.iter().find(|renderer| renderer.name == format).unwrap();
    (renderer.render)(&ReportView { verbose, ..ReportView::new(judged, TEXT) }).unwrap()
}

const SUMMARY: &str = "2 of 5 commands, 3 of 5 options, 9 calls \
    (1 succeeded, 2 invalid, 2 refused, 1 not reachable, 1 timed out)";

#[test]
fn commands_options_and_calls_are_counted() {
    let coverage = coverage(&recording());
    let value = serde_json::to_value(&coverage).unwrap();
    assert_eq!(value["sufficient"], false, "2 commands of 5 are fewer than half");
    assert_eq!(value["commands"], json!({ "found": 5, "called": 2, "succeeded": 1, "unknown": 1 }));
    assert_eq!(value["options"], json!({ "found": 5, "tried": 3 }));
    assert_eq!(
        value["calls"],
        json!({
            "made": 9, "budget": 600, "succeeded": 1, "invalid": 2, "refused": 2, "not_reachable": 1,
            "timed_out": 1, "other": 1,
        })
    );
    assert_eq!(value["kept"], 1);
    let [list, show] = [&value["by_command"][0], &value["by_command"][1]];
    assert_eq!(
        *list,
        json!({
            "command": "issue list", "calls": 3, "outcome": "succeeded", "options": { "found": 4, "tried": 3 },
            "formats": ["text", "json"], "groups": ["commands", "formats", "invalid", "hallucinated"],
        })
    );
    assert_eq!((&show["outcome"], &show["calls"]), (&"refused".into(), &2.into()), "the best outcome");
    let missed: Vec<(&str, &str)> =
        coverage.not_reached.iter().map(|missed| (&*missed.command, &*missed.reason)).collect();
    assert_eq!(
        missed,
        [
            ("auth login", "the configuration\u{1b}[2J excludes it"),
            ("gone", "the help lists it, but the target rejects it as unknown"),
            ("late", "no call of it was made"),
        ]
    );
}

#[test]
fn half_of_the_commands_with_a_success_or_a_refusal_are_sufficient() {
    let commands = |count: usize| (0..count).map(|nth| command(&format!("c{nth}"), &[])).collect();
    let is_sufficient = |found: usize, outcomes: &[CallOutcome]| {
        let names: Vec<String> = (0..outcomes.len()).map(|nth| format!("c{nth}")).collect();
        let calls = names
            .iter()
            .zip(outcomes)
            .map(|(name, outcome)| (name.as_str(), "", CallGroup::Commands, *outcome, false));
        let exploration = Exploration { commands: commands(found), ..Exploration::default() };
        coverage(&explored(exploration, &calls.collect::<Vec<_>>())).sufficient
    };
    use CallOutcome::{NotReachable, Refused, Silent, Succeeded};
    assert!(is_sufficient(4, &[Succeeded, Refused]));
    assert!(!is_sufficient(5, &[Succeeded, Refused]));
    assert!(!is_sufficient(4, &[Succeeded, NotReachable, Silent]));
    assert!(!is_sufficient(0, &[]));
}

#[test]
fn a_target_that_was_not_explored_has_no_coverage() {
    let recording = record(PROBES, &checks(), conforming);
    assert_eq!(report(&recording).coverage, None);
    let judged = [judged(recording)];
    for renderer in RENDERERS {
        let text = render(renderer.name, &judged, true);
        assert!(
            !text.contains("coverage") && !text.to_lowercase().contains("explor"),
            "{}: {text}",
            renderer.name
        );
    }
}

#[test]
fn text_shows_one_line_and_with_verbose_each_command() {
    let short = rendered("text", false);
    let text = short.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(&format!("explored: {SUMMARY}")), "{short}");
    assert!(text.contains("4 probes · 9 explored calls (1 kept) · "), "{short}");
    assert!(
        short.contains("note: the exploration is incomplete: the time limit of 120 s ended it"),
        "{short}"
    );
    assert!(!short.contains("Explored commands"), "{short}");
    let verbose = rendered("text", true);
    let row = |name: &str| verbose.lines().find(|line| line.starts_with(name)).unwrap_or(&verbose);
    assert!(row("issue list").ends_with("succeeded   3 calls  3 of 4 options  text, json"), "{verbose}");
    assert!(row("gone").contains("not called") && row("gone").contains("the help lists it"), "{verbose}");
    let quiet = RENDERERS.iter().find(|renderer| renderer.name == "text").unwrap();
    let config = agentnative_output::OutputConfig { quiet: true, ..TEXT };
    let judged = [judged(recording())];
    assert!(!(quiet.render)(&ReportView::new(&judged, config)).unwrap().contains("explored: "));
}

#[test]
fn json_and_jsonl_contain_the_coverage_and_a_merged_report_keeps_it() {
    let data = |text: &str| serde_json::from_str::<Value>(text).unwrap()["data"].take();
    let expected = coverage(&recording());
    let Reports::One(one) = serde_json::from_value(data(&rendered("json", false))).unwrap() else {
        panic!("the report of one target")
    };
    assert_eq!(one.coverage.as_ref(), Some(&expected));
    let last =
        rendered("jsonl", false).lines().last().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let summary: SummaryEvent = serde_json::from_value(last.unwrap()).unwrap();
    assert_eq!(summary.coverage.as_ref(), Some(&expected));
    let merged = MergedReport::new(without_replaced_verdicts(vec![(*one).clone(), *one]));
    assert!(merged.targets.iter().all(|report| report.coverage.as_ref() == Some(&expected)));
    let judged: Vec<Judged> =
        merged.targets.into_iter().map(|report| Judged { report, recording: None, elapsed: None }).collect();
    assert!(render("markdown", &judged, false).contains("Explored"));
}

#[test]
fn html_has_a_table_of_commands_and_no_runs_of_calls_that_were_only_tried() {
    let page = rendered("html", false);
    assert!(page.contains(&format!("<dt>Explored</dt><dd>{SUMMARY}</dd>")), "{page}");
    assert!(page.contains(
        "<th scope=\"row\">issue list</th><td class=\"pass\">succeeded</td><td>3</td><td>3 of 4</td>"
    ));
    assert!(page.contains("<span class=\"dim\">not called:</span> no call of it was made"));
    assert!(page.contains(">tried issue list · text · plain<"), "the run of the kept call");
    assert!(!page.contains(">tried issue list --state=x"), "the run of a call that was only tried");
}

#[test]
fn each_machine_format_contains_the_line() {
    assert!(
        rendered("junit", false)
            .contains(&format!("<system-out>explored: {SUMMARY}\nthe exploration is incomplete: "))
    );
    assert!(rendered("markdown", false).contains(&format!("\nExplored: {SUMMARY}\n")));
    let github = rendered("github", false);
    assert!(github.contains(&format!("::notice title=demo%3A explored::{SUMMARY}\n")), "{github}");
    assert_eq!(github.matches("::notice").count(), 1, "{github}");
    let log: Value = serde_json::from_str(&rendered("sarif", false)).unwrap();
    let expected = serde_json::to_value(coverage(&recording())).unwrap();
    assert_eq!(log["runs"][0]["properties"]["coverage"], expected);
    assert!(!rendered("gitlab", false).contains("explored"));
}

#[test]
fn a_table_of_several_targets_has_a_column_if_one_was_explored() {
    let plain = judged(record(PROBES, &checks(), conforming));
    let both = render("text", &[judged(recording()), plain.clone()], false);
    assert!(
        both.lines().any(|line| line.starts_with("demo ") && line.contains("  2 of 5 commands  ")),
        "{both}"
    );
    assert!(!render("text", &[plain.clone(), plain], false).contains("commands"));
}

#[test]
fn no_text_of_an_exploration_is_unsafe_or_markup() {
    for renderer in RENDERERS {
        let text = rendered(renderer.name, true);
        let is_allowed = |c: char| c == '\n' || (c == '\t' && renderer.name == "html");
        assert!(!text.contains(|c| sanitize::is_unsafe(c) && !is_allowed(c)), "{}: {text}", renderer.name);
        let is_escaped = sanitize::escape_commands(&text) == text;
        assert!(["github", "html"].contains(&renderer.name) || is_escaped, "{}: {text}", renderer.name);
        let is_markup = ["html", "junit", "markdown"].contains(&renderer.name) && text.contains("<b>");
        assert!(!is_markup, "{}: {text}", renderer.name);
    }
}
