//! Simulated targets: a function returns the result of each call, and the recording is judged without a process.

use agentnative::catalogue::Check;
use agentnative::check::{Recording, Scans, deciding_runs, judge};
use agentnative::config::{Config, Date, ValidationContext};
use agentnative::model::{CheckId, CheckResult, Exploration, OutputFormat, TargetInfo, Variant};
use agentnative::probe::{self, Probe, TargetProfile};
use agentnative::run::{Bytes, Captured, Observation, Outcome, RunEnd, RunKey, Waiting};
use agentnative::targets::Interface;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// One call of a simulated target.
#[derive(Clone)]
pub struct Call {
    pub args: Vec<String>,
    /// The format that the arguments select.
    pub format: OutputFormat,
    pub variant: Variant,
    /// Number of the run under this condition, from 0.
    pub nth: u8,
    /// The environment variables of its probe.
    pub env: BTreeMap<String, String>,
}

/// The result of a call: stdout, stderr, and how it ends.
pub struct CallResult(pub String, pub String, pub RunEnd);

/// Returns a success with this stdout.
pub fn success(stdout: impl Into<String>) -> CallResult {
    CallResult(stdout.into(), String::new(), RunEnd::Exited(0))
}

/// Returns a run that exits with this code.
pub fn exited(code: i32, stdout: impl Into<String>, stderr: impl Into<String>) -> CallResult {
    CallResult(stdout.into(), stderr.into(), RunEnd::Exited(code))
}

/// Returns a failure that conforms to the standard.
pub fn failure(call: &Call, code: i32, message: &str) -> CallResult {
    match call.format {
        OutputFormat::Text => exited(code, "", format!("demo: {message}\n")),
        _ => exited(code, "", format!("{{\"error\":\"e\",\"kind\":\"k\",\"message\":\"{message}\"}}\n")),
    }
}

/// Formats records, in a document as `data`, in the format of the call.
pub fn records(call: &Call, records: &[&str]) -> String {
    match call.format {
        OutputFormat::Json => format!("{{\"ok\":true,\"data\":[{}]}}\n", records.join(",")),
        _ => records.iter().map(|record| format!("{record}\n")).collect(),
    }
}

/// Answers like a conforming target: `list` prints data; `lost`, `login` and `sync` exit with 1, 77 and 78.
pub fn conforming(call: &Call) -> CallResult {
    let has = |word: &str| call.args.iter().any(|arg| arg == word);
    if call.args == ["list", "--help"] {
        return success("Usage: demo list\n\nExample:\n  demo list --json\n\nOptions:\n  --json  As JSON\n");
    }
    if has("--help") {
        return success(
            "Commands:\n  list  List\n\nExamples:\n  demo list\n  demo list --json\n\nOptions:\n  --json  As JSON\n\nExit codes:\n  0  success\n  1  error\n  2  usage\n  77  login\n  78  configuration\n",
        );
    }
    if has("--version") {
        return success("demo 1\n");
    }
    if call.args.iter().any(|arg| arg.contains("agentnative-unknown-format")) {
        return failure(call, 2, "unknown format; expected text, json or jsonl");
    }
    if let Some(wrong) = call.args.iter().find(|arg| arg.contains("agentnative-unknown")) {
        return failure(call, 2, &format!("unknown: {wrong}"));
    }
    match call.args.first().map(String::as_str) {
        Some("list") => success(records(call, &[r#"{"id":1,"name":"a"}"#, r#"{"id":2,"name":"b"}"#])),
        Some("schema") => success(r#"{"type":"object"}"#),
        Some("login") => failure(call, 77, "not logged in"),
        Some("sync") => failure(call, 78, "no configuration"),
        _ => failure(call, 1, "there is no such record"),
    }
}

/// A configuration with probes of [`conforming`], one for each exit code.
pub const PROBES: &str = "
    [[probe]]
    name = 'list'
    args = ['list']
    [[probe]]
    name = 'lost'
    args = ['lost']
    exit = 1
    [[probe]]
    name = 'login'
    args = ['login']
    exit = 77
    [[probe]]
    name = 'sync'
    args = ['sync']
    exit = 78
";

/// Records all runs that `checks` need of a target with this configuration.
pub fn record(config: &str, checks: &[&Check], answer: impl Fn(&Call) -> CallResult) -> Recording {
    record_with_help(b"Commands:\n  list  List\n", config, checks, answer)
}

/// Like [`record`], with this help page.
pub fn record_with_help(
    help: &[u8],
    config: &str,
    checks: &[&Check],
    answer: impl Fn(&Call) -> CallResult,
) -> Recording {
    let known = ValidationContext {
        checks: &[],
        contracts: &["dexter-flat", "opencode-events"],
        today: Date { year: 2026, month: 11, day: 21 },
    };
    let config = Config::parse(config, Path::new("conf/agentnative.toml"), &known).unwrap();
    let target = &config.targets[0];
    let declared: Vec<Probe> = config.probes.iter().map(|probe| Probe::declared(probe, target)).collect();
    let mut profile = TargetProfile::from_config(target).with_help(&Interface::parse(help), &[]);
    let calls_list = |probe: &Probe| probe.command_words().next() == Some("list");
    profile.called_commands =
        declared.iter().any(calls_list).then(|| vec!["list".to_owned()]).into_iter().collect();
    record_probes(declared, profile, checks, answer)
}

/// Like [`record`], with these probes and this profile.
pub fn record_probes(
    declared: Vec<Probe>,
    profile: TargetProfile,
    checks: &[&Check],
    answer: impl Fn(&Call) -> CallResult,
) -> Recording {
    record_explored(declared, None, profile, checks, answer)
}

/// Like [`record_probes`], of a target that was explored. `sources` are the declared probes and the explored calls.
pub fn record_explored(
    sources: Vec<Probe>,
    exploration: Option<Exploration>,
    profile: TargetProfile,
    checks: &[&Check],
    answer: impl Fn(&Call) -> CallResult,
) -> Recording {
    let (probes, mut keys) = probe::plan(checks, sources, &profile, Duration::from_secs(10));
    let info = TargetInfo { name: "demo".into(), command: vec!["/demo".into()], project: None };
    let mut recording = Recording::new(info, profile);
    recording.probes = probes;
    recording.exploration = exploration;
    while !keys.is_empty() {
        for key in keys {
            let seen = observed(key, &recording, &answer);
            recording.observations.push(seen);
        }
        keys = deciding_runs(&recording, checks, &Scans::default()).unwrap();
        keys.retain(|key| recording.observations.iter().all(|seen| seen.key != *key));
    }
    recording
}

/// Observes one run. Under combined conditions, the target behaves as under the first of them that makes a
/// difference.
fn observed(key: RunKey, recording: &Recording, answer: &impl Fn(&Call) -> CallResult) -> Observation {
    let Some(conditions) = key.replaced_run_keys() else { return single(key, recording, answer) };
    let plain = single(RunKey::plain_run_key(key.probe.clone(), key.format), recording, answer);
    let shown = |seen: &Observation| (seen.end.clone(), seen.stdout.bytes.first(u64::MAX));
    let mut conditions = conditions.into_iter().map(|part| single(part, recording, answer));
    let seen = conditions.find(|seen| shown(seen) != shown(&plain)).unwrap_or(plain);
    Observation { key, ..seen }
}

/// Observes one run under one condition.
fn single(key: RunKey, recording: &Recording, answer: &impl Fn(&Call) -> CallResult) -> Observation {
    let probe = recording.probes.iter().find(|probe| probe.id == key.probe).unwrap();
    let args = probe.args_in(key.format, &recording.profile);
    let asks = |format: &OutputFormat| {
        args.contains(&format!("--{}", format.name()))
            || args.windows(2).any(|pair| pair[0] == "--output" && pair[1] == format.name())
    };
    let format = OutputFormat::ALL.into_iter().find(asks).unwrap_or_default();
    let call = Call { args, format, variant: key.variant, nth: key.nth, env: probe.call.env.clone() };
    observation(key, [vec!["/demo".to_owned()], call.args.clone()].concat(), answer(&call))
}

/// Returns an observation with this result and default values otherwise.
pub fn observation(
    key: RunKey,
    argv: Vec<String>,
    CallResult(stdout, stderr, end): CallResult,
) -> Observation {
    let captured = |text: String| Captured { bytes: Bytes::from(text.into_bytes()), chunks: Vec::new() };
    let waiting = (end == RunEnd::Waited).then_some(Waiting::Terminal);
    let outcome = Outcome {
        stdout: captured(stdout),
        stderr: captured(stderr),
        trips: Some(Vec::new()),
        duration: Duration::from_millis(10),
        waiting,
        ..end.into()
    };
    Observation { key, argv, uncopied: false, outcome }
}

/// Returns the verdict of one check on the runs that it needs.
pub fn verdict(id: CheckId, config: &str, answer: impl Fn(&Call) -> CallResult) -> CheckResult {
    let check = [id.check()];
    judge(&record(config, &check, answer), &check).unwrap().results.remove(0)
}
