//! Verdicts on made-up targets: all faults that a run shows are named at once, and no run that shows one is left out.

use crate::made_up::{Answer, Call, PROBES, conforming, data, ended, seen, verdict};
use agentnative::model::{CheckId, CheckResult, Evidence, OutputFormat, Status, Variant};
use agentnative::probe::UNKNOWN_FLAG;
use agentnative::run::End;

fn is_status(result: &CheckResult, status: Status) {
    assert_eq!(result.status, status, "{}: {} {:?}", result.id, result.message, result.evidence);
}

/// `conforming`, but for what `list` gives in json under a variant.
fn listing(
    variant: Variant,
    format: OutputFormat,
    changed: impl Fn(String) -> Answer,
) -> impl Fn(&Call) -> Answer {
    move |call| {
        let here = call.args.first().is_some_and(|arg| arg == "list") && call.variant == variant;
        let Answer(stdout, stderr, end) = conforming(call);
        if here && call.format == format { changed(stdout) } else { Answer(stdout, stderr, end) }
    }
}

/// The kinds of the evidence about one run, and all that is said of it.
fn told<'a>(result: &'a CheckResult, probe: &str) -> (Vec<&'a str>, String) {
    let of = |evidence: &&Evidence| {
        evidence.probe.as_deref() == Some(probe) && evidence.format == Some(OutputFormat::Json)
    };
    let about: Vec<&Evidence> = result.evidence.iter().filter(of).collect();
    let mut kinds: Vec<&str> = about.iter().map(|evidence| evidence.kind.as_str()).collect();
    kinds.sort_unstable();
    (kinds, about.iter().map(|evidence| format!("{}\n", evidence.detail)).collect())
}

#[test]
fn runs_that_print_the_same_by_contract_are_all_compared() {
    use Variant::{File, HostileEnv, OpenStdin, SlowReader, Tty};
    let other = |stdout: String| data(stdout.replace("1,", "\"1\",").replace("name", "title"));
    for variant in [SlowReader, File] {
        let changes = listing(variant, OutputFormat::Json, other);
        let result = verdict(CheckId::P2OutputStable, PROBES, &changes);
        is_status(&result, Status::Fail);
        assert_eq!(result.evidence[0].variant, Some(variant));
        // What only changes by itself is no fault of another format or flag.
        for id in [CheckId::P2OutputComplete, CheckId::P2JsonAlias, CheckId::P2OutputPure] {
            assert_ne!(verdict(id, PROBES, &changes).status, Status::Fail, "{id} {variant:?}");
        }
        let fails = listing(variant, OutputFormat::Jsonl, |stdout| ended(3, stdout, ""));
        is_status(&verdict(CheckId::P2ExitConsistent, PROBES, fails), Status::Fail);
        let notice = listing(variant, OutputFormat::Jsonl, |stdout| data(format!("{stdout}Done.\n")));
        is_status(&verdict(CheckId::P2OutputJsonl, PROBES, notice), Status::Fail);
        let colour = listing(variant, OutputFormat::Json, |stdout| data(format!("{stdout}\u{1b}[0m")));
        is_status(&verdict(CheckId::P2OutputPure, PROBES, colour), Status::Fail);
    }
    // A terminal and an environment may add to the data, but not to the exit code.
    for variant in [Tty, HostileEnv, OpenStdin] {
        let changes = listing(variant, OutputFormat::Json, other);
        is_status(&verdict(CheckId::P2OutputStable, PROBES, changes), Status::Pass);
    }
    let fails = |format| listing(Tty, format, |stdout| ended(3, stdout, ""));
    is_status(&verdict(CheckId::P2ExitConsistent, PROBES, fails(OutputFormat::Json)), Status::Fail);
    is_status(&verdict(CheckId::P2ExitConsistent, PROBES, fails(OutputFormat::Text)), Status::Pass);
    // A run that is cut is another fault.
    let cut = listing(File, OutputFormat::Json, |stdout| data(&stdout[..stdout.len() / 2]));
    let result = verdict(CheckId::P2OutputStable, PROBES, cut);
    is_status(&result, Status::Unverified);
    assert!(result.message.contains("see p2-output-complete"), "{}", result.message);
}

#[test]
fn all_differences_of_a_run_are_named() {
    let other =
        |stdout: String| data(stdout.replace("1,", "\"1\",").replace("true", "1").replace("name", "title"));
    let result = verdict(CheckId::P2OutputStable, PROBES, listing(Variant::File, OutputFormat::Json, other));
    let (kinds, words) = told(&result, "list");
    assert_eq!(kinds, ["keys", "types"]);
    for part in [
        "the key `name` of /data/0",
        "the key `title` of /data/0",
        "/ok is boolean",
        "from that of list · json",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
}

#[test]
fn all_faults_of_an_error_are_named_at_once() {
    const GOOD: &str = "{\"error\":\"e\",\"kind\":\"k\",\"message\":\"m\"}\n";
    const HALF: &str = "{\"ok\":true,\"data\":[\n";
    let progress = |error: &str| format!("Loading ...\n{error}");
    let cases: [(&str, String, &[&str], &[&str]); 12] = [
        ("", GOOD.into(), &[], &[]),
        ("", progress(GOOD), &["not-json"], &["progress and log lines have to be silent"]),
        ("", format!("{GOOD}Done.\n"), &["not-json"], &["text besides the error object"]),
        (
            "",
            progress("{\"message\":\"m\"}\n"),
            &["key-missing", "not-json"],
            &["no non-empty strings `error` and `kind`", "text besides the error object"],
        ),
        (
            "",
            progress("{\n  \"error\": \"e\",\n  \"kind\": 2,\n  \"message\": \"m\"\n}\n"),
            &["key-missing", "not-json"],
            &["no non-empty string `kind`"],
        ),
        ("", "{}\n".into(), &["key-missing"], &["strings `error`, `kind` and `message`"]),
        (
            "",
            "no such record\n".into(),
            &["not-json"],
            &["not one JSON object with `error`, `kind` and `message`"],
        ),
        ("", format!("{GOOD}{GOOD}"), &["not-json"], &["stderr is not one JSON object: "]),
        (HALF, "{\"error\":\"e\"}\n".into(), &["half-document", "key-missing"], &["`kind` and `message`"]),
        (HALF, String::new(), &["half-document", "silent"], &["stderr is empty"]),
        // Text on stdout is another check's, and what is on stderr is judged all the same.
        ("Loading ...\n", "no such record\n".into(), &["not-json"], &[]),
        (
            "Loading ...\n",
            "{\"error\":\"e\",\"message\":\"m\"}\n".into(),
            &["key-missing"],
            &["string `kind`"],
        ),
    ];
    for (stdout, stderr, kinds, words) in cases {
        let target = |call: &Call| match call.args.first().is_some_and(|arg| arg == "lost") {
            true if call.format == OutputFormat::Json => ended(1, stdout, stderr.clone()),
            _ => conforming(call),
        };
        let result = verdict(CheckId::P2ErrorJson, PROBES, target);
        is_status(&result, if kinds.is_empty() { Status::Pass } else { Status::Fail });
        let (seen, said) = told(&result, "lost");
        assert_eq!(seen, kinds, "{stdout:?} {stderr:?}: {said}");
        for part in words {
            assert!(said.contains(part), "{part}: {said}");
        }
    }
    // The object is shown, not the text around it.
    let target = |call: &Call| match call.args.first().is_some_and(|arg| arg == "lost") {
        true if call.format == OutputFormat::Json => ended(1, "", "Loading ...\n{\"error\":\"e\"}\n"),
        _ => conforming(call),
    };
    let result = verdict(CheckId::P2ErrorJson, PROBES, target);
    let keys = result.evidence.iter().find(|evidence| evidence.kind == "key-missing").unwrap();
    assert_eq!(keys.line, Some(2));
    // An error on the wrong stream, or on both, is one fault.
    for stderr in ["", "no such record\n"] {
        let target = |call: &Call| match call.args.first().is_some_and(|arg| arg == "lost") {
            true if call.format.is_json() => ended(1, "no such record\n", stderr),
            _ => conforming(call),
        };
        is_status(&verdict(CheckId::P2ErrorJson, PROBES, target), Status::Unverified);
        let result = verdict(CheckId::P2StderrDiagnostics, PROBES, target);
        is_status(&result, Status::Fail);
        assert!(result.message.contains("expected its diagnostics on stderr"), "{}", result.message);
    }
    // Progress on stdout beside an error on stderr.
    let target = |call: &Call| match call.args.first().is_some_and(|arg| arg == "lost") {
        true if call.format.is_json() => ended(1, "Loading ...\n", GOOD),
        _ => conforming(call),
    };
    let result = verdict(CheckId::P2StderrDiagnostics, PROBES, target);
    is_status(&result, Status::Fail);
    assert!(result.message.contains("progress and log lines have to be silent"), "{}", result.message);
}

#[test]
fn all_faults_of_the_data_are_named_at_once() {
    let json = |changed: fn(String) -> String| {
        listing(Variant::Plain, OutputFormat::Json, move |stdout| data(changed(stdout)))
    };
    let result = verdict(CheckId::P2JsonStrict, PROBES, json(|stdout| stdout.replace("1,", "NaN,\"id\":2,")));
    assert_eq!(told(&result, "list").0, ["duplicate-key", "non-finite"]);
    let lines = |call: &Call| match call.format {
        OutputFormat::Jsonl => data(conforming(call).0.replace("id", "no").replace("name", "title")),
        _ => conforming(call),
    };
    let config = "[[probe]]\nname = 'list'\nargs = ['list']\n";
    let result = verdict(CheckId::P2OutputParity, config, |call: &Call| match call.args.first() {
        Some(first) if first == "list" => {
            let Answer(stdout, stderr, end) = lines(call);
            let more = |stdout: String| stdout.replace("{\"", "{\"kept\":1,\"");
            match call.format {
                OutputFormat::Text => Answer(stdout, stderr, end),
                OutputFormat::Json => data(more(stdout).replacen("{\"kept\":1,", "{", 1)),
                OutputFormat::Jsonl => data(more(stdout)),
            }
        }
        _ => conforming(call),
    });
    let part = "`id` is missing in jsonl; `name` is missing in jsonl; `no` is only in jsonl";
    assert!(result.message.contains(part), "{:?} {}", result.status, result.message);
}

#[test]
fn all_that_a_printed_schema_rejects_is_named() {
    const SCHEMA: &str = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "required":["version"],"properties":{"ok":{"type":"string"},"data":{"type":"object"}}}"#;
    let target = |call: &Call| match call.args.first().is_some_and(|arg| arg == "schema") {
        true => data(SCHEMA),
        false => conforming(call),
    };
    let config = format!("[target]\nschema = ['schema']\n{PROBES}");
    let result = verdict(CheckId::P2SchemaPrint, &config, target);
    is_status(&result, Status::Fail);
    for part in ["version", "/ok", "/data"] {
        assert!(result.message.contains(part), "{part}: {}", result.message);
    }
}

#[test]
fn an_invalid_format_shows_both_of_its_faults() {
    let target = |call: &Call| match call.args.iter().any(|arg| arg == "agentnative-unknown-format") {
        true => ended(1, "Error: unknown format\n", ""),
        false => conforming(call),
    };
    let result = verdict(CheckId::P2OutputFormat, PROBES, target);
    let kinds: Vec<&str> = result.evidence.iter().map(|evidence| evidence.kind.as_str()).collect();
    assert_eq!(kinds, ["invalid-exit-code", "invalid-on-stdout"]);
}

#[test]
fn without_a_format_the_exit_code_is_that_of_text() {
    let target = |call: &Call| match call.args == ["list"] {
        true => ended(3, "", "no format\n"),
        false => conforming(call),
    };
    let result = verdict(CheckId::P2OutputFormat, PROBES, target);
    is_status(&result, Status::Fail);
    assert!(result.message.contains("the exit code is 3, with that of `text` 0"), "{}", result.message);
}

#[test]
fn evidence_of_an_exit_code_shows_the_stream_that_has_output() {
    const HELP: &str = "usage: demo COMMAND\n";
    let bare = format!("{PROBES}\n[[probe]]\nname = 'bare'\nargs = []\nexit = 2\n");
    for (config, wrong, id) in [
        (PROBES, UNKNOWN_FLAG, CheckId::P2ExitUsage),
        (bare.as_str(), "", CheckId::P2ExitUsage),
        (PROBES, "login", CheckId::P2ExitAuth),
    ] {
        let target = |call: &Call| {
            let is_wrong = match wrong {
                "" => call.args.first().is_none_or(|arg| arg == "--output"),
                word => call.args.iter().any(|arg| arg == word),
            };
            if is_wrong { data(HELP) } else { conforming(call) }
        };
        let result = verdict(id, config, target);
        is_status(&result, Status::Fail);
        assert_eq!(result.evidence[0].excerpt.as_deref(), Some(HELP.trim_end()), "{wrong}");
    }
}

#[test]
fn the_top_level_keys_that_most_commands_have_are_expected() {
    let probes = "[[probe]]\nname = 'all'\nargs = ['all']\n[[probe]]\nname = 'one'\nargs = ['one']\n\
                  [[probe]]\nname = 'two'\nargs = ['two']\n";
    let target = |call: &Call| match call.args.first().map(String::as_str) {
        Some("all") => data("{\"items\":[]}\n"),
        Some("one" | "two") => data("{\"ok\":true,\"data\":{}}\n"),
        _ => conforming(call),
    };
    let result = verdict(CheckId::P2Envelope, probes, target);
    is_status(&result, Status::Warn);
    assert_eq!(
        result.message,
        "commands have different top-level keys: expected `data`, `ok` as in `one`, found `items`"
    );
}

/// Nothing is laid at the door of a check that passes: what keeps a verdict open leads to a fault.
#[test]
fn what_blocks_a_verdict_is_found_by_the_check_that_it_names() {
    use agentnative::catalogue::{Check, checks};
    let checks: Vec<&Check> =
        checks().iter().filter(|check| check.layer == agentnative::model::Layer::Behavioral).collect();
    let ways: [fn(String) -> Answer; 6] = [
        |_| Answer(String::new(), String::new(), End::TimedOut),
        |_| Answer(String::new(), String::new(), End::Signaled(11)),
        |stdout| ended(3, stdout, ""),
        |stdout| data(format!("Loading\n{stdout}")),
        |stdout| data(format!("{stdout}\u{1b}[0m")),
        |stdout| data(&stdout[..stdout.len() / 2]),
    ];
    let mut wrong = Vec::new();
    for variant in [
        Variant::Plain,
        Variant::Repeat,
        Variant::File,
        Variant::SlowReader,
        Variant::Tty,
        Variant::HostileEnv,
        Variant::OpenStdin,
        Variant::ClosedPipe,
    ] {
        for (format, way) in [OutputFormat::Json, OutputFormat::Jsonl, OutputFormat::Text]
            .into_iter()
            .flat_map(|format| (0..ways.len()).map(move |way| (format, way)))
        {
            let target = listing(variant, format, ways[way]);
            let results = agentnative::check::judge(&seen(PROBES, &checks, target), &checks).unwrap().results;
            let of = |id: CheckId| results.iter().find(|result| result.id == id).unwrap();
            let leads = |id: CheckId| {
                let cause = of(id);
                let failed = matches!(cause.status, Status::Fail | Status::Warn);
                failed || cause.status == Status::Unverified && !cause.blocked_by.is_empty()
            };
            for result in &results {
                for cause in result.blocked_by.iter().filter(|cause| !leads(cause.id)) {
                    let cause = of(cause.id);
                    wrong.push(format!(
                        "{format:?} {variant:?} {way}: {} waits for {}, which is {:?} ({})",
                        result.id, cause.id, cause.status, result.message
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
