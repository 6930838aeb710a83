//! The examples of checks, judged without a process. Where the output of one command decides a check, its good example
//! neither fails nor warns, and its bad example does.

use crate::simulated_target::{self, CallResult};
use agentnative::catalogue::{Check, DerivedKind, Example, check, checks};
use agentnative::check::Baseline;
use agentnative::config::{CallConfig, TargetConfig};
use agentnative::judge::{AcceptedFaults, CheckContext, judge};
use agentnative::model::{CheckId, CheckResult, Layer, OutputFormat, ProbeId, Status, Variant};
use agentnative::probe::{Probe, TargetProfile, UNKNOWN_FLAG, UNKNOWN_FORMAT};
use agentnative::run::{HOSTILE_ENVIRONMENTS, Observation, RunEnd, RunKey};
use agentnative::targets::Interface;
use std::collections::BTreeSet;
use std::time::Duration;

/// Checks that the output and exit code of one command cannot decide, each with the reason.
const NOT_JUDGED: &[(&str, &str)] = &[
    ("p2-output-complete", "compares what arrived at three readers; the example shows a count of bytes"),
    ("p2-output-stable", "compares repeated runs; the example shows one, its note the other"),
    ("p2-output-order", "compares repeated runs; the example shows one, its note the other"),
    ("p3-about", "compares two help pages; the example shows one, its note the other"),
    ("p2-jsonl-prompt", "is about when records arrive, not what they are"),
    ("p2-completes", "is about how a run ended and what it left behind"),
    ("p4-write-error", "compares a run whose output is lost with one whose output arrives"),
    ("p6-bare-environment", "compares a run without a home with one that has one"),
    ("p1-no-prompt", "is about a run that waits"),
    ("p1-no-browser", "is about the programs that a run calls"),
    ("p6-no-pager", "is about the programs that a run calls"),
    ("p1-tty-detection", "is about a run that waits on a terminal"),
    ("p1-no-input", "is about a run that waits on a terminal, and needs the option"),
    (
        "p1-env-flag",
        "compares calls with an option and with a variable; the example shows one, its note the other",
    ),
    ("p5-dry-run", "is about what a run changes"),
    ("p5-confirm", "is about what a run changes"),
    ("p5-read-only", "is about what a run changes"),
    ("p5-refusal", "needs the call to be declared"),
    ("p5-idempotent", "is about what a run changes"),
    ("p5-concurrent", "is about what a run changes"),
    ("p6-locale", "compares a run in a locale with the plain run"),
    ("p6-width", "compares a run on a terminal with one in a pipe"),
    ("p6-read-only-home", "compares a run with a read-only home with one with a writable home"),
    ("p6-precedence", "needs the pair of an option and a variable to be declared"),
    ("p6-timeout", "needs a server that never answers"),
    ("p4-before-network", "needs a server that never answers"),
    ("p4-config-named", "compares a run with an invalid configuration with one without"),
    ("p3-examples-parse", "needs the help that shows the example"),
    ("p6-sigint", "is about a run that is interrupted"),
    ("p6-xdg", "is about what a run stores"),
    ("p8-bundle-install", "is about what a run stores"),
    ("p1-secret-path", "compares calls with a secret given in two ways"),
    ("p1-secret-silent", "needs the secret"),
    ("p6-sigterm", "is about what a run leaves"),
    ("p6-completions", "needs the call that prints the scripts to be declared"),
    (
        "p6-global-flags",
        "compares calls with an option at two places; the example shows one, its note the other",
    ),
    ("p2-contract-schema", "needs the contract that the example's note speaks of"),
    ("p2-contract-stream", "needs the contract that the example's note speaks of"),
    ("p2-contract-exit", "needs the contract that the example's note speaks of"),
    ("p2-contract-locked", "needs the lock that the example's note speaks of"),
    ("p2-interface-locked", "needs the lock that the example's note speaks of"),
    ("p7-clamped", "compares with the same call with a higher limit, of which the note speaks"),
    ("p7-limit", "compares with the same call without a limit"),
];

/// Returns the exit code that the probe of an example declares.
fn expected_exit(id: &str) -> i32 {
    match id {
        "p2-stderr-diagnostics" | "p2-error-json" | "p2-exit-error" | "p4-no-traceback" | "p4-retryable" => 1,
        "p2-exit-usage" => 2,
        "p2-exit-auth" | "p4-remedy" => 77,
        "p2-exit-config" => 78,
        _ => 0,
    }
}

const DOCUMENT: &str = "{\"ok\":true,\"data\":[]}\n";
const TWO_RECORDS: &str =
    "{\"ok\":true,\"data\":[{\"id\":1,\"name\":\"alpha\"},{\"id\":2,\"name\":\"beta\"}]}\n";
const ONE_RECORD: &str = "{\"ok\":true,\"data\":[{\"id\":1,\"name\":\"alpha\"}]}\n";

/// Help of the target, if the example is the help of a command.
const TARGET_HELP: &str = "Usage: mycli COMMAND\n\nCommands:\n  list  List the records\n";

/// Returns the output of the target for other calls, as the notes of the examples describe it.
fn other_output(id: &str, format: OutputFormat) -> &'static str {
    match (id, format) {
        ("p2-output-parity", OutputFormat::Json) => TWO_RECORDS,
        ("p2-json-alias", OutputFormat::Json) => ONE_RECORD,
        ("p2-output-empty", OutputFormat::Jsonl) => "",
        (_, OutputFormat::Json) => DOCUMENT,
        (_, OutputFormat::Jsonl) => "{\"id\":1,\"name\":\"alpha\"}\n",
        (_, OutputFormat::Text) => "1   alpha\n",
    }
}

fn probe(name: &str, id: ProbeId, exit: Option<i32>, formats: &[OutputFormat]) -> Probe {
    Probe {
        id,
        name: name.into(),
        call: CallConfig::default(),
        asks_format: true,
        exit,
        formats: formats.to_vec(),
        flag_position: None,
        effect: None,
        timeout: Duration::from_secs(10),
        writes: false,
        explored: None,
    }
}

fn observation(
    probe: &Probe,
    format: OutputFormat,
    (variant, nth): (Variant, u8),
    (stdout, stderr, exit): (&str, &str, i32),
) -> Observation {
    // A shell reports a signal as 128 plus its number.
    let end = if exit > 128 && exit < 160 { RunEnd::Signaled(exit - 128) } else { RunEnd::Exited(exit) };
    let key = RunKey { probe: probe.id.clone(), format, variant, nth };
    simulated_target::observation(key, Vec::new(), CallResult(stdout.to_owned(), stderr.to_owned(), end))
}

/// Returns the format that a command line selects.
fn selected_format(command: &str) -> OutputFormat {
    let words: Vec<&str> = command.split_whitespace().collect();
    OutputFormat::ALL
        .into_iter()
        .rev()
        .find(|format| {
            words.contains(&format!("--{}", format.name()).as_str())
                || words.windows(2).any(|pair| pair == ["--output", format.name()])
        })
        .unwrap_or_default()
}

/// Returns the kind of the derived call that shows a check; `None` if a declared probe does.
fn derived_kind(id: &str, command: &str) -> Option<DerivedKind> {
    match id {
        "p2-output-format" if command.ends_with("--output xml") => Some(DerivedKind::InvalidFormat),
        "p4-unknown-flag" | "p4-names-culprit" => Some(DerivedKind::IgnoredFlag),
        "p4-valid-set" => Some(DerivedKind::InvalidFormat),
        "p2-json-alias" => Some(DerivedKind::Alias),
        "p2-more-formats" => Some(DerivedKind::MoreFormats),
        "p2-raw" => Some(DerivedKind::Raw),
        "p7-quiet" => Some(DerivedKind::Quiet),
        "p2-schema-print" => Some(DerivedKind::Schema),
        "p3-help" | "p3-examples" | "p3-examples-valid" | "p3-version-short" | "p6-color-flag"
        | "p7-verbose" => Some(DerivedKind::Help),
        "p3-command-help" | "p3-command-examples" | "p6-stdin" => Some(DerivedKind::CommandHelp),
        "p3-version" => Some(DerivedKind::Version),
        _ => None,
    }
}

/// Conditions of the runs that repeat a call.
const REPETITIONS: [(Variant, u8); 2] = [(Variant::Repeat, 0), (Variant::Repeat, 1)];

/// Returns the conditions of the runs that print the example.
fn conditions(check: &Check, example: &Example) -> Vec<(Variant, u8)> {
    let is_setting = |word: &str| word.contains('=') && !word.starts_with('-');
    let begins_with_setting = example.command.split_whitespace().next().is_some_and(is_setting);
    if check.id == CheckId::P2BrokenPipe {
        return vec![(Variant::ClosedPipe, 0)];
    }
    let conditions_of = |variant: &Variant| match variant {
        Variant::HostileEnv => {
            let all = (0..HOSTILE_ENVIRONMENTS.len() as u8).map(|nth| (Variant::HostileEnv, nth));
            let is_shown = |(variant, nth): &(Variant, u8)| {
                check.id != CheckId::P2OutputLocale || variant.has_rare_locale(*nth)
            };
            all.filter(is_shown).collect()
        }
        // An example that begins with a setting is shown under that setting only.
        _ if begins_with_setting => Vec::new(),
        other => vec![(*other, 0)],
    };
    let repetitions = REPETITIONS.into_iter().filter(|_| !begins_with_setting);
    let mut conditions: Vec<(Variant, u8)> =
        check.runs.variants.iter().flat_map(conditions_of).chain(repetitions).collect();
    if conditions.is_empty() {
        conditions.push((Variant::Plain, 0));
    }
    conditions
}

/// Judges a target that prints this example and conforms otherwise.
fn judge_example(check: &Check, example: &Example) -> CheckResult {
    let profile = TargetProfile::from_config(&TargetConfig::default())
        .with_help(&Interface::parse(b"Commands:\n  list  List\n"), &[]);
    let format = selected_format(&example.command);
    let kind = derived_kind(check.id.as_str(), &example.command);
    let mut example_probe = match kind {
        Some(kind) => {
            let source = (kind != DerivedKind::Schema).then(|| "list".to_owned());
            let run_format = if kind == DerivedKind::Schema { OutputFormat::Json } else { format };
            probe("example", ProbeId::derived(kind, source), None, &[run_format])
        }
        None => probe(
            "example",
            ProbeId::declared("example"),
            Some(expected_exit(check.id.as_str())),
            &OutputFormat::ALL,
        ),
    };
    let list = probe("list", ProbeId::declared("list"), Some(0), &OutputFormat::ALL);
    let without_format = ProbeId::derived(DerivedKind::NoFormat, Some(example_probe.name.clone()));
    let without_format = probe("example, no format", without_format, Some(0), &[OutputFormat::Text]);

    // The unknown word of an example is replaced by the one that agentnative uses.
    let (mut stdout, mut stderr) = (example.stdout.clone(), example.stderr.clone());
    if kind == Some(DerivedKind::IgnoredFlag) {
        let flag = example.command.split_whitespace().find(|word| word.starts_with("--")).unwrap();
        (stdout, stderr) = (stdout.replace(flag, UNKNOWN_FLAG), stderr.replace(flag, UNKNOWN_FLAG));
    } else if kind == Some(DerivedKind::InvalidFormat) {
        example_probe.call.args = ["list", "--output", UNKNOWN_FORMAT].map(str::to_owned).to_vec();
    }
    if check.id == CheckId::P4Remedy {
        example_probe.call.remedy = vec!["mycli login".into()];
    }
    example_probe.call.empty = check.id == CheckId::P2OutputEmpty;
    let output = (&*stdout, &*stderr, example.exit);
    let run_format = if kind == Some(DerivedKind::Schema) { OutputFormat::Json } else { format };
    let conditions = conditions(check, example);
    let mut runs: Vec<Observation> = conditions
        .iter()
        .map(|condition| observation(&example_probe, run_format, *condition, output))
        .collect();
    let plain = (Variant::Plain, 0);
    for other_format in OutputFormat::ALL {
        let default_output = (other_output(check.id.as_str(), other_format), "", 0);
        for condition in [plain, (Variant::Repeat, 0)] {
            runs.push(observation(&list, other_format, condition, default_output));
        }
        // The probe of the example in the other formats and conditions.
        for condition in conditions.iter().chain([&plain]).chain(&REPETITIONS) {
            // All formats have the exit code of the example if it is of text or correct.
            let is_correct = check.id == CheckId::P2ExitConsistent && example.verdict == Status::Pass;
            let is_of_all_formats = format == OutputFormat::Text || is_correct;
            let exit = if is_of_all_formats { example.exit } else { 0 };
            let other = observation(&example_probe, other_format, *condition, (default_output.0, "", exit));
            if expected_exit(check.id.as_str()) == 0
                && kind.is_none()
                && !runs.iter().any(|run| run.key == other.key)
            {
                runs.push(other);
            }
        }
    }
    // The call without a format prints text.
    let text =
        if format == OutputFormat::Text { output } else { (other_output("", OutputFormat::Text), "", 0) };
    runs.push(observation(&without_format, OutputFormat::Text, plain, text));
    let mut probes = vec![example_probe, without_format];
    // `list` is the other command for checks that compare commands.
    if kind.is_some()
        || [CheckId::P2Envelope, CheckId::P2SchemaPrint].contains(&check.id)
        || expected_exit(check.id.as_str()) != 0
    {
        probes.push(list);
    }
    if kind == Some(DerivedKind::CommandHelp) {
        let target_help = probe("--help", ProbeId::derived(DerivedKind::Help, None), Some(0), &[format]);
        runs.push(observation(&target_help, format, plain, (TARGET_HELP, "", 0)));
        probes.push(target_help);
    }
    let contracts = Default::default();
    let context = CheckContext::new(&profile, &contracts, &probes, &runs);
    let none = AcceptedFaults { waivers: &[], baseline: &Baseline::default(), target: "" };
    judge(&context, &[check], none).results.pop().expect("a verdict for each check")
}

fn is_not_judged(check: &Check) -> bool {
    check.layer != Layer::Behavioral || NOT_JUDGED.iter().any(|(id, _)| check.id.as_str() == *id)
}

/// Returns the kinds of problems that the examples show, each with the ID of its check.
pub fn kinds_shown() -> BTreeSet<(String, String)> {
    let shown = checks().iter().filter(|check| !is_not_judged(check)).flat_map(|check| {
        let evidence = check.examples.iter().flat_map(|example| judge_example(check, example).evidence);
        evidence.map(|evidence| (check.id.to_string(), evidence.kind))
    });
    shown.collect()
}

#[test]
fn examples_have_their_stated_verdict() {
    let mut wrong = Vec::new();
    let mut passed = BTreeSet::new();
    let behavioral = || checks().iter().filter(|check| !is_not_judged(check));
    for check in behavioral() {
        for example in &check.examples {
            let CheckResult { status, message, .. } = judge_example(check, example);
            let has_problem = matches!(status, Status::Fail | Status::Warn);
            let is_expected = match example.verdict {
                Status::Fail | Status::Warn => status == example.verdict,
                Status::NotApplicable => status == Status::NotApplicable,
                _ => !has_problem,
            };
            if !is_expected {
                wrong.push(format!(
                    "{} `{}` ({}): {status:?}, not {:?}: {message}",
                    check.id, example.command, example.note, example.verdict
                ));
            }
            // An example provides only some of the runs that a check requires.
            let lacks_runs = message.ends_with(" required runs were not recorded") && !message.contains(';');
            if status == Status::Pass || lacks_runs {
                passed.insert(check.id.as_str());
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Every check passes with one of its examples.
    let open: Vec<&str> =
        behavioral().map(|check| check.id.as_str()).filter(|id| !passed.contains(id)).collect();
    assert_eq!(open, [""; 0]);
}

#[test]
fn the_checks_that_are_not_judged_exist() {
    for (id, why) in NOT_JUDGED {
        assert!(check(id).is_some() && !why.is_empty(), "{id}");
    }
}
