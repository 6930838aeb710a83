//! The checks' examples, judged without a process: where one command's output can decide a check, the
//! good example is no fail and no warn, and the bad one is.

use crate::made_up::{self, Answer};
use agentnative::catalogue::{Check, Derived, Example, check, checks};
use agentnative::check::Baseline;
use agentnative::config::{CallConfig, TargetConfig};
use agentnative::judge::{Accepted, CheckContext, judge};
use agentnative::model::{CheckId, CheckResult, Layer, OutputFormat, ProbeId, Status, Variant};
use agentnative::probe::{Probe, TargetProfile, UNKNOWN_FLAG, UNKNOWN_FORMAT};
use agentnative::run::{End, HOSTILE_ENVIRONMENTS, Observation, RunKey};
use agentnative::targets::Interface;
use std::collections::BTreeSet;
use std::time::Duration;

/// Checks of which an example is not one command's bytes and exit code.
const LEFT_OUT: &[(&str, &str)] = &[
    ("p2-output-complete", "compares what arrived at three readers; the example shows a count of bytes"),
    ("p2-output-stable", "compares repeated runs; the example shows one, its note the other"),
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
    ("p7-clamped", "compares with the same call with a higher limit, of which the note speaks"),
    ("p7-limit", "compares with the same call without a limit"),
];

/// How the calls of the others are expected to end.
fn expected(id: &str) -> i32 {
    match id {
        "p2-stderr-diagnostics" | "p2-error-json" | "p2-exit-error" | "p4-no-traceback" => 1,
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

/// The help of the target, where the example is that of a command.
const PAGE: &str = "Usage: mycli COMMAND\n\nCommands:\n  list  List the records\n";

/// What the target prints otherwise, in the words of the examples' notes.
fn otherwise(id: &str, format: OutputFormat) -> &'static str {
    match (id, format) {
        ("p2-output-parity", OutputFormat::Json) => TWO_RECORDS,
        ("p2-json-alias", OutputFormat::Json) => ONE_RECORD,
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
        place: None,
        effect: None,
        timeout: Duration::from_secs(10),
        writes: false,
    }
}

fn observation(
    probe: &Probe,
    format: OutputFormat,
    (variant, nth): (Variant, u8),
    (stdout, stderr, exit): (&str, &str, i32),
) -> Observation {
    // 128 and a signal is how a shell tells of one.
    let end = if exit > 128 && exit < 160 { End::Signaled(exit - 128) } else { End::Exited(exit) };
    let key = RunKey { probe: probe.id.clone(), format, variant, nth };
    made_up::observation(key, Vec::new(), Answer(stdout.to_owned(), stderr.to_owned(), end))
}

/// The format that a command line asks for.
fn format(command: &str) -> OutputFormat {
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

/// The kind of probe that shows a check, when it is not a declared one.
fn derived(id: &str, command: &str) -> Option<Derived> {
    match id {
        "p2-output-format" if command.ends_with("--output xml") => Some(Derived::InvalidFormat),
        "p4-unknown-flag" | "p4-names-culprit" => Some(Derived::IgnoredFlag),
        "p4-valid-set" => Some(Derived::InvalidFormat),
        "p2-json-alias" => Some(Derived::Alias),
        "p2-more-formats" => Some(Derived::MoreFormats),
        "p2-raw" => Some(Derived::Raw),
        "p7-quiet" => Some(Derived::Quiet),
        "p2-schema-print" => Some(Derived::Schema),
        "p3-help" | "p3-examples" | "p3-examples-valid" => Some(Derived::Help),
        "p3-command-help" | "p3-command-examples" => Some(Derived::CommandHelp),
        "p3-version" => Some(Derived::Version),
        _ => None,
    }
}

/// The runs that repeat a call.
const AGAIN: [(Variant, u8); 2] = [(Variant::Repeat, 0), (Variant::Repeat, 1)];

/// The conditions that the example is seen under.
fn variants(check: &Check, example: &Example) -> Vec<(Variant, u8)> {
    let is_setting = |word: &str| word.contains('=') && !word.starts_with('-');
    let begins_with_setting = example.command.split_whitespace().next().is_some_and(is_setting);
    if check.id == CheckId::P2BrokenPipe {
        return vec![(Variant::ClosedPipe, 0)];
    }
    let under = |variant: &Variant| match variant {
        Variant::HostileEnv => {
            (0..HOSTILE_ENVIRONMENTS.len() as u8).map(|nth| (Variant::HostileEnv, nth)).collect()
        }
        // Only under that setting, in the examples that begin with one.
        _ if begins_with_setting => Vec::new(),
        other => vec![(*other, 0)],
    };
    let again = AGAIN.into_iter().filter(|_| !begins_with_setting);
    let mut variants: Vec<(Variant, u8)> = check.runs.variants.iter().flat_map(under).chain(again).collect();
    if variants.is_empty() {
        variants.push((Variant::Plain, 0));
    }
    variants
}

/// The verdict on a target that prints this example, and conforms otherwise.
fn judged(check: &Check, example: &Example) -> CheckResult {
    let profile = TargetProfile::of(&TargetConfig::default())
        .with_help(&Interface::parse(b"Commands:\n  list  List\n"), &[]);
    let asked = format(&example.command);
    let kind = derived(check.id.as_str(), &example.command);
    let mut shown = match kind {
        Some(kind) => {
            let of = (kind != Derived::Schema).then(|| "list".to_owned());
            let seen_as = if kind == Derived::Schema { OutputFormat::Json } else { asked };
            probe("example", ProbeId::derived(kind, of), None, &[seen_as])
        }
        None => probe(
            "example",
            ProbeId::declared("example"),
            Some(expected(check.id.as_str())),
            &OutputFormat::ALL,
        ),
    };
    let list = probe("list", ProbeId::declared("list"), Some(0), &OutputFormat::ALL);
    let bare = ProbeId::derived(Derived::NoFormat, Some(shown.name.clone()));
    let bare = probe("example, no format", bare, Some(0), &[OutputFormat::Text]);

    // What is wrong in an example has a word of its own.
    let (mut stdout, mut stderr) = (example.stdout.clone(), example.stderr.clone());
    if kind == Some(Derived::IgnoredFlag) {
        let flag = example.command.split_whitespace().find(|word| word.starts_with("--")).unwrap();
        (stdout, stderr) = (stdout.replace(flag, UNKNOWN_FLAG), stderr.replace(flag, UNKNOWN_FLAG));
    } else if kind == Some(Derived::InvalidFormat) {
        shown.call.args = ["list", "--output", UNKNOWN_FORMAT].map(str::to_owned).to_vec();
    }
    if check.id == CheckId::P4Remedy {
        shown.call.remedy = vec!["mycli login".into()];
    }
    let output = (&*stdout, &*stderr, example.exit);
    let at = if kind == Some(Derived::Schema) { OutputFormat::Json } else { asked };
    let under = variants(check, example);
    let mut runs: Vec<Observation> =
        under.iter().map(|variant| observation(&shown, at, *variant, output)).collect();
    let plain = (Variant::Plain, 0);
    for format in OutputFormat::ALL {
        let usual = (otherwise(check.id.as_str(), format), "", 0);
        for again in [plain, (Variant::Repeat, 0)] {
            runs.push(observation(&list, format, again, usual));
        }
        // The example's own probe in the other formats and conditions.
        for variant in under.iter().chain([&plain]).chain(&AGAIN) {
            // An exit code in text, or where it is right, is that of every format.
            let is_right = check.id == CheckId::P2ExitConsistent && example.verdict == Status::Pass;
            let is_of_all = asked == OutputFormat::Text || is_right;
            let exit = if is_of_all { example.exit } else { 0 };
            let other = observation(&shown, format, *variant, (usual.0, "", exit));
            if expected(check.id.as_str()) == 0
                && kind.is_none()
                && !runs.iter().any(|run| run.key == other.key)
            {
                runs.push(other);
            }
        }
    }
    // Without a format it is as in text.
    let text = if asked == OutputFormat::Text { output } else { (otherwise("", OutputFormat::Text), "", 0) };
    runs.push(observation(&bare, OutputFormat::Text, plain, text));
    let mut probes = vec![shown, bare];
    // Whatever is compared with the output of another command has it from `list`.
    if kind.is_some()
        || [CheckId::P2Envelope, CheckId::P2SchemaPrint].contains(&check.id)
        || expected(check.id.as_str()) != 0
    {
        probes.push(list);
    }
    if kind == Some(Derived::CommandHelp) {
        let target = probe("--help", ProbeId::derived(Derived::Help, None), Some(0), &[asked]);
        runs.push(observation(&target, asked, plain, (PAGE, "", 0)));
        probes.push(target);
    }
    let contracts = Default::default();
    let context = CheckContext::new(&profile, &contracts, &probes, &runs);
    let none = Accepted { waivers: &[], baseline: &Baseline::default(), target: "" };
    judge(&context, &[check], none).results.pop().expect("a verdict for each check")
}

fn left_out(check: &Check) -> bool {
    check.layer != Layer::Behavioral || LEFT_OUT.iter().any(|(left, _)| check.id.as_str() == *left)
}

/// The kinds of fault that the examples show, each with the ID of its check.
pub fn kinds_shown() -> BTreeSet<(String, String)> {
    let shown = checks().iter().filter(|check| !left_out(check)).flat_map(|check| {
        let evidence = check.examples.iter().flat_map(|example| judged(check, example).evidence);
        evidence.map(|evidence| (check.id.to_string(), evidence.kind))
    });
    shown.collect()
}

#[test]
fn examples_have_the_verdict_that_they_show() {
    let mut wrong = Vec::new();
    let mut passed = BTreeSet::new();
    let behavioral = || checks().iter().filter(|check| !left_out(check));
    for check in behavioral() {
        for example in &check.examples {
            let CheckResult { status, message, .. } = judged(check, example);
            let bad = matches!(status, Status::Fail | Status::Warn);
            let fits = match example.verdict {
                Status::Fail | Status::Warn => status == example.verdict,
                Status::NotApplicable => status == Status::NotApplicable,
                _ => !bad,
            };
            if !fits {
                wrong.push(format!(
                    "{} `{}` ({}): {status:?}, not {:?}: {message}",
                    check.id, example.command, example.note, example.verdict
                ));
            }
            // An example is one of the runs that a check needs.
            let lacks_runs = message.ends_with(" required runs were not recorded") && !message.contains(';');
            if status == Status::Pass || lacks_runs {
                passed.insert(check.id.as_str());
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // What cannot pass by one command alone stays open; that is not many.
    let open: Vec<&str> =
        behavioral().map(|check| check.id.as_str()).filter(|id| !passed.contains(id)).collect();
    assert_eq!(open, [""; 0]);
}

#[test]
fn what_is_left_out_exists() {
    for (id, why) in LEFT_OUT {
        assert!(check(id).is_some() && !why.is_empty(), "{id}");
    }
}
