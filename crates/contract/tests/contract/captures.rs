//! Validates the captured output of real programs against their contracts.
//!
//! The table was written by hand from the facts of the contracts, before any capture was judged. The captures are
//! outside the repository, so the test is ignored by default.

use agentnative_contract::{Against, Contract, Framing, RunExit};
use std::path::Path;
use strict_json::{ReadOptions, read_records, read_value};

/// The expected result of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Accept,
    /// It is not JSON, or not JSON Lines.
    NotJson,
    /// Rejected by this rule.
    Reject(Against, &'static str),
}

use Expected::{Accept, NotJson, Reject};

const EXIT: Expected = Reject(Against::Exit, "exit-code");
const fn exit_code(code: i32) -> RunExit<'static> {
    RunExit::with_code(code)
}
const fn under_condition(condition: &'static str, exit: Option<i32>) -> RunExit<'static> {
    RunExit { code: exit, condition: Some(condition), stderr: None }
}
/// The exit code was not recorded, or is that of the harness that killed the program.
const UNKNOWN: RunExit<'static> = RunExit { code: None, condition: None, stderr: None };

/// Contract, capture, exit of the run (128 + n for signal n), expected result.
const TABLE: &[(&str, &str, RunExit<'static>, Expected)] = &[
    // The specification requires 2 for both; the program ignores the error and answers.
    ("dexter-flat", "dexter-flat-badflag.stdout", under_condition("usage", Some(0)), EXIT),
    ("dexter-flat", "dexter-flat-modelnoarg.stdout", under_condition("usage", Some(0)), EXIT),
    ("dexter-flat", "dexter-flat-err400.stdout", exit_code(1), Accept),
    // It did not exit: the harness killed it.
    ("dexter-flat", "dexter-flat-err500.stdout", exit_code(137), EXIT),
    ("dexter-flat", "dexter-flat-nokey.stdout", exit_code(1), Accept),
    ("dexter-flat", "dexter-flat-sigint.stdout", exit_code(130), Accept),
    ("dexter-flat", "dexter-flat-stdin.stdout", exit_code(0), Accept),
    ("dexter-flat", "dexter-flat-tool.stdout", exit_code(0), Accept),
    ("dexter-nested", "dexter-nested-empty.stdout", exit_code(0), Accept),
    ("dexter-nested", "dexter-nested-err401.stdout", exit_code(1), Accept),
    ("dexter-nested", "dexter-nested-loop.stdout", exit_code(0), Accept),
    ("dexter-nested", "dexter-nested-noquery.stdout", exit_code(1), Accept),
    ("dexter-nested", "dexter-nested-sigint.stdout", exit_code(130), Accept),
    ("dexter-nested", "dexter-nested-tool.stdout", exit_code(0), Accept),
    ("agent-js", "agentjs-ask.stdout", exit_code(5), Accept),
    ("agent-js", "agentjs-badconfig.stdout", exit_code(2), Accept),
    ("agent-js", "agentjs-badoption.stdout", exit_code(1), Accept),
    ("agent-js", "agentjs-err400.stdout", exit_code(1), Accept),
    ("agent-js", "agentjs-err401.stdout", exit_code(1), Accept),
    ("agent-js", "agentjs-err500.stdout", exit_code(1), Accept),
    ("agent-js", "agentjs-insecure.stdout", exit_code(4), Accept),
    ("agent-js", "agentjs-neverapproval.stdout", exit_code(0), Accept),
    ("agent-js", "agentjs-nofile.stdout", exit_code(9), Accept),
    ("agent-js", "agentjs-noprovider.stdout", exit_code(4), Accept),
    ("agent-js", "agentjs-refused.stdout", exit_code(1), Accept),
    ("agent-js", "agentjs-sigint.stdout", exit_code(130), Accept),
    ("agent-js", "agentjs-sigterm.stdout", exit_code(143), Accept),
    ("agent-js", "agentjs-text.stdout", exit_code(0), Accept),
    ("agent-js", "agentjs-tool.stdout", exit_code(0), Accept),
    ("agent-js", "agentjs-unknown-tool.stdout", exit_code(0), Accept),
    ("agent-js", "x-agentjs-aimock-tool.stdout", exit_code(0), Accept),
    // Killed by the harness.
    ("agent-js", "x-agentjs-gemma.stdout", exit_code(137), EXIT),
    ("claude-stream@2.1.197", "claude-badflag.stdout", exit_code(1), Accept),
    ("claude-stream@2.1.197", "claude-err500-stream.stdout", exit_code(1), Accept),
    ("claude-stream@2.1.197", "claude-maxturns-stream.stdout", exit_code(1), Accept),
    ("claude-stream@2.1.197", "claude-partial-stream.stdout", exit_code(0), Accept),
    // Exit code 0 without a result occurs in interrupted runs only.
    ("claude-stream@2.1.197", "claude-sigint.stdout", exit_code(0), EXIT),
    ("claude-stream@2.1.197", "claude-sigint.stdout", under_condition("interrupted", Some(0)), Accept),
    ("claude-stream@2.1.197", "claude-stream-noverbose.stdout", exit_code(1), Accept),
    ("claude-stream@2.1.197", "claude-write-denied-stream.stdout", exit_code(0), Accept),
    ("claude-json@2.1.197", "claude-badflag.stdout", exit_code(1), Accept),
    ("claude-json@2.1.197", "claude-badmodel.stdout", exit_code(0), Accept),
    ("claude-json@2.1.197", "claude-err400-json.stdout", exit_code(1), Accept),
    ("claude-json@2.1.197", "claude-err500-json.stdout", exit_code(1), Accept),
    ("claude-json@2.1.197", "claude-maxturns-json.stdout", exit_code(1), Accept),
    ("claude-json@2.1.197", "claude-text-json.stdout", exit_code(0), Accept),
    ("claude-json@2.1.197", "claude-tool-json.stdout", exit_code(0), Accept),
    // With --verbose, the output is an array of all events.
    ("claude-json@2.1.197", "claude-tool-json-verbose.stdout", exit_code(0), Reject(Against::Schema, "type")),
    ("claude-json@2.1.197", "claude-write-denied-json.stdout", exit_code(0), Accept),
    ("claude-json-verbose@2.1.197", "claude-tool-json-verbose.stdout", exit_code(0), Accept),
    ("claude-json-verbose@2.1.197", "claude-tool-json-verbose.stdout", exit_code(1), EXIT),
    (
        "claude-json-verbose@2.1.197",
        "claude-tool-json.stdout",
        exit_code(0),
        Reject(Against::Schema, "array"),
    ),
    ("claude-json-verbose@2.1.197", "claude-badflag.stdout", exit_code(1), Accept),
    ("qwen-json@0.15.10", "qwen-text-json.stdout", exit_code(0), Accept),
    ("cline-json", "cline-text.stdout", exit_code(0), Accept),
    ("cline-json", "cline-tool.stdout", exit_code(0), Accept),
    ("cline-json", "cline-err400.stdout", exit_code(1), Accept),
    ("cline-json", "cline-err401.stdout", exit_code(1), Accept),
    ("cline-json", "cline-err401.stdout", exit_code(0), EXIT),
    ("cline-json", "cline-sigint.stdout", under_condition("interrupted", Some(0)), Accept),
    ("cline-json", "cline-sigint.stdout", exit_code(0), EXIT),
    ("cline-json", "cline-auth.stdout", exit_code(0), NotJson),
    ("qwen-json@0.15.10", "qwen-badflag.stdout", exit_code(1), Accept),
    ("qwen-json@0.15.10", "qwen-sigint.stdout", exit_code(130), Accept),
    ("qwen-json@0.15.10", "qwen-text-stream.stdout", exit_code(0), NotJson),
    ("gemini-stream", "gemini-denied-stream.stdout", exit_code(0), Accept),
    // Retried until the harness killed it: there is no result.
    ("gemini-stream", "gemini-err500-stream.stdout", UNKNOWN, Reject(Against::Stream, "last-event")),
    ("gemini-stream", "gemini-sigint.stdout", UNKNOWN, Reject(Against::Stream, "last-event")),
    ("gemini-stream", "gemini-text-stream.stdout", exit_code(0), Accept),
    ("gemini-stream", "gemini-tool-stream.stdout", exit_code(0), Accept),
    ("gemini-stream", "gemini-toolfail-stream.stdout", exit_code(0), Accept),
    ("gemini-json", "gemini-badflag.stdout", exit_code(1), Accept),
    ("gemini-json", "gemini-err400-json.stdout", exit_code(144), Accept),
    ("gemini-json", "gemini-err401-json.stdout", exit_code(145), Accept),
    // Killed by the harness.
    ("gemini-json", "gemini-err429-json.stdout", exit_code(137), EXIT),
    ("gemini-json", "gemini-maxturns-json.stdout", exit_code(53), Accept),
    ("gemini-json", "gemini-noprompt.stdout", exit_code(42), Accept),
    ("gemini-json", "gemini-text-json.stdout", exit_code(0), Accept),
    ("qwen-stream@0.15.10", "qwen-badflag.stdout", exit_code(1), Accept),
    // The text reports a failed request; the exit code and the result report success.
    ("qwen-stream@0.15.10", "qwen-err401-stream.stdout", exit_code(0), Accept),
    ("qwen-stream@0.15.10", "qwen-err401-stream.stdout", under_condition("success", Some(0)), EXIT),
    ("qwen-stream@0.15.10", "qwen-maxturns-stream.stdout", exit_code(53), Accept),
    ("qwen-stream@0.15.10", "qwen-partial-stream.stdout", exit_code(0), Accept),
    ("qwen-stream@0.15.10", "qwen-sigint.stdout", exit_code(130), Accept),
    // An array of all events.
    ("qwen-stream@0.15.10", "qwen-text-json.stdout", exit_code(0), NotJson),
    ("qwen-stream@0.15.10", "qwen-text-stream.stdout", exit_code(0), Accept),
    ("qwen-stream@0.15.10", "qwen-tool-stream.stdout", exit_code(0), Accept),
    ("qwen-stream@0.15.10", "qwen-toolfail-stream.stdout", exit_code(0), Accept),
    ("pi-json@0.73", "pi-badflag.stdout", exit_code(1), Accept),
    ("pi-json@0.73", "pi-badmodel.stdout", exit_code(0), Accept),
    ("pi-json@0.73", "pi-err400.stdout", exit_code(0), Accept),
    ("pi-json@0.73", "pi-err500.stdout", exit_code(0), Accept),
    ("pi-json@0.73", "pi-noprompt.stdout", exit_code(0), Accept),
    ("pi-json@0.73", "pi-sigterm.stdout", exit_code(143), Accept),
    ("pi-json@0.73", "pi-text.stdout", exit_code(0), Accept),
    ("pi-json@0.73", "pi-toolfail.stdout", exit_code(0), Accept),
    ("pi-json@0.73", "pi-err400.stdout", under_condition("success", Some(0)), EXIT),
    ("vibe-streaming", "vibe-badformat.stdout", exit_code(1), Accept),
    ("vibe-streaming", "vibe-err401-streaming.stdout", exit_code(1), Accept),
    ("vibe-streaming", "vibe-err401-streaming.stdout", exit_code(0), EXIT),
    ("vibe-streaming", "vibe-maxturns-streaming.stdout", exit_code(3), Accept),
    ("vibe-streaming", "vibe-sigterm.stdout", exit_code(3), Accept),
    ("vibe-streaming", "vibe-tool-streaming.stdout", exit_code(0), Accept),
    // One pretty array.
    ("vibe-streaming", "vibe-text-json.stdout", exit_code(0), NotJson),
    ("vibe-json", "vibe-badformat.stdout", exit_code(1), Accept),
    ("vibe-json", "vibe-text-json.stdout", exit_code(0), Accept),
    ("vibe-json", "vibe-tool-streaming.stdout", exit_code(0), NotJson),
    ("opencode-events", "opencode-bus-err400.jsonl", UNKNOWN, Accept),
    ("opencode-events", "opencode-bus-text.jsonl", UNKNOWN, Accept),
    ("opencode-events", "opencode-bus-tool.jsonl", UNKNOWN, Accept),
    // A version without --format, which prints its help to stdout.
    ("opencode-run", "opencode-0.5.29-err400.stdout", exit_code(1), NotJson),
    ("opencode-run", "opencode-0.5.29-tool.stdout", exit_code(1), NotJson),
    // The provider failed, and there is no error line.
    ("opencode-run", "opencode-1.0.0-err400.stdout", under_condition("failed", Some(1)), EXIT),
    ("opencode-run", "opencode-1.0.0-tool.stdout", under_condition("failed", Some(1)), EXIT),
    ("opencode-run", "opencode-1.1.11-err400.stdout", exit_code(1), Accept),
    ("opencode-run", "opencode-1.1.11-tool.stdout", exit_code(0), Accept),
    ("opencode-run", "opencode-attach-err400.stdout", under_condition("attached-failed", None), Accept),
    ("opencode-run", "opencode-attach-text.stdout", UNKNOWN, Accept),
    ("opencode-run", "opencode-attach-tool.stdout", UNKNOWN, Accept),
    ("opencode-run", "opencode-attach-write.stdout", UNKNOWN, Accept),
    ("opencode-run", "opencode-badflag.stdout", exit_code(1), Accept),
    ("opencode-run", "opencode-badmodel.stdout", exit_code(1), Accept),
    ("opencode-run", "opencode-badprovider.stdout", exit_code(1), Accept),
    ("opencode-run", "opencode-empty.stdout", exit_code(0), Accept),
    ("opencode-run", "opencode-err400.stdout", exit_code(1), Accept),
    ("opencode-run", "opencode-err500.stdout", exit_code(1), Accept),
    // It begins steps in an endless loop.
    ("opencode-run", "opencode-midstream.stdout", UNKNOWN, Reject(Against::Stream, "steps")),
    ("opencode-run", "opencode-permission-reject.stdout", exit_code(0), Accept),
    ("opencode-run", "opencode-sigint.stdout", exit_code(130), Accept),
    ("opencode-run", "opencode-text.stdout", exit_code(0), Accept),
    ("opencode-run", "opencode-tool.stdout", exit_code(0), Accept),
    ("opencode-run", "opencode-two.stdout", exit_code(0), Accept),
    ("opencode-run", "opencode-unknown-tool.stdout", exit_code(0), Accept),
    ("codex-exec", "codex-badflag.stdout", exit_code(2), Accept),
    ("codex-exec", "codex-err401.stdout", exit_code(1), Accept),
    ("codex-exec", "codex-err429.stdout", exit_code(1), Accept),
    ("codex-exec", "codex-noprompt.stdout", exit_code(1), Accept),
    ("codex-exec", "codex-outputschema.stdout", exit_code(0), Accept),
    ("codex-exec", "codex-sigint2.stdout", under_condition("interrupted", Some(1)), Accept),
    // Without the declared condition, exit code 1 requires a failed turn.
    ("codex-exec", "codex-sigint2.stdout", exit_code(1), EXIT),
    // Its recorded code is that of timeout(1), which sent the signal.
    ("codex-exec", "codex-sigterm.stdout", under_condition("terminated", None), Accept),
    ("codex-exec", "codex-text.stdout", exit_code(0), Accept),
    ("codex-exec", "codex-tool.stdout", exit_code(0), Accept),
    ("codex-exec", "codex-two.stdout", exit_code(0), Accept),
    ("codex-exec", "codex-unknown-tool.stdout", exit_code(0), Accept),
    // Output of other programs.
    (
        "agent-js",
        "dexter-flat-stdin.stdout",
        UNKNOWN,
        Reject(Against::Schema, "output.schema.json#/required"),
    ),
    ("codex-exec", "opencode-text.stdout", UNKNOWN, Reject(Against::Stream, "first-event")),
];

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_captures_have_the_expected_verdicts() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/captures"));
    let mut wrong = Vec::new();
    // The output also conforms to the strict version of the contract for the program's version.
    let versions = [("dexter-flat", "2026.2"), ("dexter-nested", "2026.2"), ("agent-js", "1.5.8")];
    let cases = TABLE.iter().flat_map(|(name, file, exit, expected)| {
        let version = versions.iter().find(|(versioned, _)| versioned == name).map(|(_, version)| version);
        let strict = version.map(|version| format!("{name}@{version}"));
        std::iter::once((*name).to_owned()).chain(strict).map(move |name| (name, file, exit, expected))
    });
    for (name, file, exit, expected) in cases {
        let name = name.as_str();
        let contract = Contract::bundled(name).unwrap();
        let stderr = std::fs::read(folder.join(file).with_extension("stderr")).ok();
        let exit = RunExit { stderr: stderr.as_deref(), ..*exit };
        let actual = judge(&contract, &std::fs::read(folder.join(file)).unwrap(), &exit);
        let is_expected = match (&actual, expected) {
            (Actual::NotJson, NotJson) => true,
            (Actual::Judged(found), Accept) => found.is_empty(),
            (Actual::Judged(found), Reject(against, rule)) => {
                found.iter().any(|violation| violation.0 == *against && violation.1.ends_with(rule))
            }
            _ => false,
        };
        println!(
            "{name:16} {file:36} {expected:?} {}",
            if is_expected { "as expected" } else { "DIFFERENT" }
        );
        if !is_expected {
            wrong.push(format!("{name} {file}: expected {expected:?}, got {actual:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[derive(Debug)]
enum Actual {
    NotJson,
    Judged(Vec<(Against, String, String)>),
}

fn judge(contract: &Contract, bytes: &[u8], exit: &RunExit<'_>) -> Actual {
    let mut judge = contract.validator();
    let mut found = Vec::new();
    let summary = match contract.framing() {
        _ if bytes.is_empty() => None,
        Framing::Document | Framing::Array => {
            let document = read_value(bytes, &ReadOptions::default(), u64::MAX).unwrap();
            found.extend(document.value.iter().flat_map(|value| judge.push_document(value)));
            Some(document.summary)
        }
        Framing::Lines => Some(
            read_records(bytes, &ReadOptions::default(), u64::MAX, |record| {
                found.extend(record.value.iter().flat_map(|value| judge.push(record.line, value)));
            })
            .unwrap(),
        ),
    };
    if summary.is_some_and(|summary| summary.rejected()) {
        return Actual::NotJson;
    }
    found.extend(judge.finish(exit).violations);
    let short = found.into_iter().map(|v| {
        let text = v.to_string();
        (v.against, v.rule, format!("event {:?} {text}", v.event))
    });
    Actual::Judged(short.collect())
}
