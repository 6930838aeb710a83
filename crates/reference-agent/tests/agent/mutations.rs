//! Mutations of the agent's output: each is caught by its check.

use super::programs::{program, repository};
use serde_json::Value;
use std::process::Command;
use std::sync::Mutex;

/// The mutation, and the check that has to report it.
const MUTATIONS: &[(&str, &str)] = &[
    ("json-by-default", "p2-output-format"),
    ("any-format", "p2-output-format"),
    ("jsonl-refused", "p2-output-format"),
    ("prose-before", "p2-output-json"),
    ("prose-after", "p2-output-json"),
    ("two-documents", "p2-output-json"),
    ("cut-short", "p2-output-json"),
    ("byte-order-mark", "p2-output-json"),
    ("no-json", "p2-output-json"),
    ("nothing", "p2-output-json"),
    ("blank-line", "p2-output-jsonl"),
    ("pretty-lines", "p2-output-jsonl"),
    ("array-line", "p2-output-jsonl"),
    ("torn-line", "p2-output-jsonl"),
    ("log-line", "p2-output-jsonl"),
    ("two-on-a-line", "p2-output-jsonl"),
    ("colour", "p2-output-pure"),
    ("colour-when-forced", "p2-output-pure"),
    ("colour-on-a-terminal", "p2-output-pure"),
    ("log-when-debug", "p2-output-pure"),
    ("nul", "p2-output-pure"),
    ("spinner", "p2-output-pure"),
    ("cut-in-a-file", "p2-output-complete"),
    ("changing-keys", "p2-output-stable"),
    ("lost-record", "p2-output-parity"),
    ("renamed-in-jsonl", "p2-output-parity"),
    ("duplicate-key", "p2-json-strict"),
    ("nan", "p2-json-strict"),
    ("lone-surrogate", "p2-json-strict"),
    ("large-integer", "p2-json-interop"),
    ("overflow", "p2-json-interop"),
    ("no-last-newline", "p2-jsonl-newline"),
    ("buffered", "p2-jsonl-prompt"),
    ("errors-on-stdout", "p2-stderr-diagnostics"),
    ("silent-failure", "p2-stderr-diagnostics"),
    ("plain-errors", "p2-error-json"),
    ("errors-without-kind", "p2-error-json"),
    ("errors-without-message", "p2-error-json"),
    ("errors-with-a-log", "p2-error-json"),
    ("errors-as-a-list", "p2-error-json"),
    ("errors-cut", "p2-error-json"),
    ("half-a-document-on-failure", "p2-error-json"),
    ("success-is-3", "p2-exit-success"),
    ("failure-is-0", "p2-exit-error"),
    ("usage-is-1", "p2-exit-usage"),
    ("auth-is-1", "p2-exit-auth"),
    ("config-is-1", "p2-exit-config"),
    ("json-always-0", "p2-exit-consistent"),
    ("says-not-ok", "p2-exit-consistent"),
    ("says-ok", "p2-exit-consistent"),
    ("dies-of-a-signal", "p2-exit-consistent"),
    ("leaves-a-child", "p2-completes"),
    ("hangs", "p2-completes"),
    ("asks", "p2-completes"),
    ("traceback-on-a-closed-pipe", "p2-broken-pipe"),
    ("own-envelope", "p2-envelope"),
    ("schema-broken", "p2-schema-print"),
    ("schema-is-prose", "p2-schema-print"),
    ("schema-of-something-else", "p2-schema-print"),
    ("alias-ignored", "p2-json-alias"),
    ("no-accents-in-ascii", "p2-output-locale"),
];

/// The probes; each check runs those that it needs.
const PROBES: [(&str, &str); 7] = [
    ("list", "args = [\"--script\", \"SCRIPTS/two-tools.json\", \"a query\"]\nstream = true"),
    ("words", "args = [\"what can you do?\"]"),
    ("accents", "args = [\"what can you do, Zoë?\"]"),
    ("failure", "args = [\"--script\", \"SCRIPTS/failure.json\", \"a query\"]\nexit = 1"),
    ("no-query", "args = []\nexit = 2"),
    ("no-key", "args = [\"--provider\", \"openai\", \"a query\"]\nexit = 77"),
    ("bad-configuration", "args = [\"--config\", \"SCRIPTS/bad.toml\", \"a query\"]\nexit = 78"),
];

/// Returns the names of the probes that a check needs to find its mutations.
fn probe_names_for(checks: &[&str]) -> &'static [&'static str] {
    match checks {
        ["p2-stderr-diagnostics" | "p2-error-json"] => &["words", "failure"],
        ["p2-exit-error"] => &["failure"],
        ["p2-exit-usage"] => &["no-query"],
        ["p2-exit-auth"] => &["no-key"],
        ["p2-exit-config"] => &["bad-configuration"],
        ["p2-exit-consistent" | "p2-exit-success"] => &["words", "failure"],
        ["p2-envelope"] => &["list", "words"],
        ["p2-output-locale"] => &["accents"],
        ["p2-jsonl-prompt" | "p2-output-jsonl" | "p2-output-parity" | "p2-broken-pipe"] => &["list"],
        _ => &["words"],
    }
}

/// Returns the report of these checks on the agent with this mutation.
fn check(mutation: &str, checks: &[&str]) -> Value {
    let root = &repository();
    let scripts = root.join("fixtures/agent");
    let dir = tempfile::tempdir().unwrap();
    let command =
        [scripts.join("mutate.py").to_str().unwrap(), mutation, env!("CARGO_BIN_EXE_reference-agent")]
            .map(str::to_owned);
    let probes: String = PROBES
        .iter()
        .filter(|(name, _)| probe_names_for(checks).contains(name))
        .map(|(name, rest)| format!("[[probe]]\nname = {name:?}\ntimeout = 4\n{rest}\n"))
        .collect();
    let probes = probes.replace("SCRIPTS", scripts.to_str().unwrap());
    let config = format!("[target]\ncommand = {command:?}\nschema = [\"--json-schema\"]\n{probes}");
    let file = dir.path().join("agentnative.toml");
    std::fs::write(&file, config).unwrap();
    let mut run = Command::new(program("agentnative"));
    // The script contains paths relative to the repository.
    run.args(["check", "--json", "--config"]).arg(&file).current_dir(root);
    checks.iter().for_each(|check| {
        run.args(["--check", check]);
    });
    let output = run.arg(dir.path()).output().unwrap();
    let report = serde_json::from_slice(&output.stdout);
    report.unwrap_or_else(|_| panic!("{mutation}: {output:?}"))
}

#[test]
fn the_agent_passes_every_check_of_principle_2() {
    let root = repository();
    let built = [root.join("target/debug/reference-agent"), env!("CARGO_BIN_EXE_reference-agent").into()];
    let [configured, tested] = built.map(|path| path.canonicalize().unwrap());
    assert_eq!(configured, tested, "the configuration names another program than the one that is tested");
    let mut run = Command::new(program("agentnative"));
    run.args(["check", "--json", "--principle", "2", "--config", "agentnative.reference-agent.toml"]);
    let output = run.args(["--bin", "reference-agent", "."]).current_dir(root).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let results = report["data"]["results"].as_array().unwrap();
    // The agent prints no list, and its formats carry no version.
    let not_applicable = ["p2-output-empty", "p2-output-version"];
    let passes = |result: &&Value| {
        let is_exception = not_applicable.iter().any(|id| result["id"] == *id);
        result["status"] == if is_exception { "not-applicable" } else { "pass" }
    };
    let other: Vec<&Value> = results.iter().filter(|result| !passes(result)).collect();
    assert!(other.is_empty() && results.len() == 44, "{} results, {other:#?}", results.len());
}

#[test]
fn each_mutation_is_caught_by_its_check() {
    assert!(MUTATIONS.len() >= 40);
    let (next, missed) = (Mutex::new(MUTATIONS.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some((mutation, id)) = next.lock().unwrap().next() else { return };
                    let result = || check(mutation, &[id])["data"]["results"][0].take();
                    // A check without a verdict, because other tests used the machine, is repeated.
                    let mut results = std::iter::repeat_with(result).take(20);
                    let starved = |result: &Value| result["message"].to_string().contains("the machine ran");
                    let result = results.find(|result| !starved(result)).unwrap_or_default();
                    let caught = ["fail", "warn"].contains(&result["status"].as_str().unwrap_or_default());
                    if !(caught
                        && result["id"] == *id
                        && result["evidence"].as_array().is_some_and(|e| !e.is_empty()))
                    {
                        missed.lock().unwrap().push(format!("{mutation}: {result:#}"));
                    }
                }
            });
        }
    });
    let missed = missed.into_inner().unwrap();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
