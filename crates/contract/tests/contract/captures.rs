//! What real programs printed, held to the contracts named after them.
//!
//! The table was written by hand from the facts of the contracts, before anything was judged. The
//! captures are beside the repository, so the test runs when it is asked for.

use agentnative_contract::{Against, Contract, Framing, RunExit};
use std::path::Path;
use strict_json::{ReadOptions, read_records, read_value};

/// What is to be found against a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Accept,
    /// It is not even JSON (lines).
    NotJson,
    /// Rejected by this rule.
    Reject(Against, &'static str),
}

use Expected::{Accept, NotJson, Reject};

const EXIT: Expected = Reject(Against::Exit, "exit-code");
const fn end(code: i32) -> RunExit<'static> {
    RunExit::exit(code)
}
const fn under_condition(condition: &'static str, exit: Option<i32>) -> RunExit<'static> {
    RunExit { exit, condition: Some(condition), stderr: None }
}
/// The exit code was not recorded, or is that of the harness that ended the run.
const UNKNOWN: RunExit<'static> = RunExit { exit: None, condition: None, stderr: None };

/// Contract, capture, how the run ended (death by signal n is 128 + n), what is expected.
const TABLE: &[(&str, &str, RunExit<'static>, Expected)] = &[
    // The specification says 2 for both; the program ignores the mistake and answers.
    ("dexter-flat", "dexter-flat-badflag.stdout", under_condition("usage", Some(0)), EXIT),
    ("dexter-flat", "dexter-flat-modelnoarg.stdout", under_condition("usage", Some(0)), EXIT),
    ("dexter-flat", "dexter-flat-err400.stdout", end(1), Accept),
    // It never ended: the harness killed it.
    ("dexter-flat", "dexter-flat-err500.stdout", end(137), EXIT),
    ("dexter-flat", "dexter-flat-nokey.stdout", end(1), Accept),
    ("dexter-flat", "dexter-flat-sigint.stdout", end(130), Accept),
    ("dexter-flat", "dexter-flat-stdin.stdout", end(0), Accept),
    ("dexter-flat", "dexter-flat-tool.stdout", end(0), Accept),
    ("dexter-nested", "dexter-nested-empty.stdout", end(0), Accept),
    ("dexter-nested", "dexter-nested-err401.stdout", end(1), Accept),
    ("dexter-nested", "dexter-nested-loop.stdout", end(0), Accept),
    ("dexter-nested", "dexter-nested-noquery.stdout", end(1), Accept),
    ("dexter-nested", "dexter-nested-sigint.stdout", end(130), Accept),
    ("dexter-nested", "dexter-nested-tool.stdout", end(0), Accept),
    ("agent-js", "agentjs-ask.stdout", end(5), Accept),
    ("agent-js", "agentjs-badconfig.stdout", end(2), Accept),
    ("agent-js", "agentjs-badoption.stdout", end(1), Accept),
    ("agent-js", "agentjs-err400.stdout", end(1), Accept),
    ("agent-js", "agentjs-err401.stdout", end(1), Accept),
    ("agent-js", "agentjs-err500.stdout", end(1), Accept),
    ("agent-js", "agentjs-insecure.stdout", end(4), Accept),
    ("agent-js", "agentjs-neverapproval.stdout", end(0), Accept),
    ("agent-js", "agentjs-nofile.stdout", end(9), Accept),
    ("agent-js", "agentjs-noprovider.stdout", end(4), Accept),
    ("agent-js", "agentjs-refused.stdout", end(1), Accept),
    ("agent-js", "agentjs-sigint.stdout", end(130), Accept),
    ("agent-js", "agentjs-sigterm.stdout", end(143), Accept),
    ("agent-js", "agentjs-text.stdout", end(0), Accept),
    ("agent-js", "agentjs-tool.stdout", end(0), Accept),
    ("agent-js", "agentjs-unknown-tool.stdout", end(0), Accept),
    ("agent-js", "x-agentjs-aimock-tool.stdout", end(0), Accept),
    // Killed by the harness, like the one above.
    ("agent-js", "x-agentjs-gemma.stdout", end(137), EXIT),
    ("claude-stream", "claude-badflag.stdout", end(1), Accept),
    ("claude-stream", "claude-err500-stream.stdout", end(1), Accept),
    ("claude-stream", "claude-maxturns-stream.stdout", end(1), Accept),
    ("claude-stream", "claude-partial-stream.stdout", end(0), Accept),
    // Exit code 0 without a result is known of interrupted runs alone.
    ("claude-stream", "claude-sigint.stdout", end(0), EXIT),
    ("claude-stream", "claude-sigint.stdout", under_condition("interrupted", Some(0)), Accept),
    ("claude-stream", "claude-stream-noverbose.stdout", end(1), Accept),
    ("claude-stream", "claude-write-denied-stream.stdout", end(0), Accept),
    ("claude-json", "claude-badflag.stdout", end(1), Accept),
    ("claude-json", "claude-badmodel.stdout", end(0), Accept),
    ("claude-json", "claude-err400-json.stdout", end(1), Accept),
    ("claude-json", "claude-err500-json.stdout", end(1), Accept),
    ("claude-json", "claude-maxturns-json.stdout", end(1), Accept),
    ("claude-json", "claude-text-json.stdout", end(0), Accept),
    ("claude-json", "claude-tool-json.stdout", end(0), Accept),
    // With --verbose, it is an array of all events.
    ("claude-json", "claude-tool-json-verbose.stdout", end(0), Reject(Against::Schema, "type")),
    ("claude-json", "claude-write-denied-json.stdout", end(0), Accept),
    ("claude-json-verbose", "claude-tool-json-verbose.stdout", end(0), Accept),
    ("claude-json-verbose", "claude-tool-json-verbose.stdout", end(1), EXIT),
    ("claude-json-verbose", "claude-tool-json.stdout", end(0), Reject(Against::Schema, "array")),
    ("claude-json-verbose", "claude-badflag.stdout", end(1), Accept),
    ("qwen-json", "qwen-text-json.stdout", end(0), Accept),
    ("cline-json", "cline-text.stdout", end(0), Accept),
    ("cline-json", "cline-tool.stdout", end(0), Accept),
    ("cline-json", "cline-err400.stdout", end(1), Accept),
    ("cline-json", "cline-err401.stdout", end(1), Accept),
    ("cline-json", "cline-err401.stdout", end(0), EXIT),
    ("cline-json", "cline-sigint.stdout", under_condition("interrupted", Some(0)), Accept),
    ("cline-json", "cline-sigint.stdout", end(0), EXIT),
    ("cline-json", "cline-auth.stdout", end(0), NotJson),
    ("qwen-json", "qwen-badflag.stdout", end(1), Accept),
    ("qwen-json", "qwen-sigint.stdout", end(130), Accept),
    ("qwen-json", "qwen-text-stream.stdout", end(0), NotJson),
    ("gemini-stream", "gemini-denied-stream.stdout", end(0), Accept),
    // Retried until the harness killed it: there is no result.
    ("gemini-stream", "gemini-err500-stream.stdout", UNKNOWN, Reject(Against::Stream, "last-event")),
    ("gemini-stream", "gemini-sigint.stdout", UNKNOWN, Reject(Against::Stream, "last-event")),
    ("gemini-stream", "gemini-text-stream.stdout", end(0), Accept),
    ("gemini-stream", "gemini-tool-stream.stdout", end(0), Accept),
    ("gemini-stream", "gemini-toolfail-stream.stdout", end(0), Accept),
    ("gemini-json", "gemini-badflag.stdout", end(1), Accept),
    ("gemini-json", "gemini-err400-json.stdout", end(144), Accept),
    ("gemini-json", "gemini-err401-json.stdout", end(145), Accept),
    // Killed by the harness as well.
    ("gemini-json", "gemini-err429-json.stdout", end(137), EXIT),
    ("gemini-json", "gemini-maxturns-json.stdout", end(53), Accept),
    ("gemini-json", "gemini-noprompt.stdout", end(42), Accept),
    ("gemini-json", "gemini-text-json.stdout", end(0), Accept),
    ("qwen-stream", "qwen-badflag.stdout", end(1), Accept),
    // Its text says that the request failed; the exit code and the result say success.
    ("qwen-stream", "qwen-err401-stream.stdout", end(0), Accept),
    ("qwen-stream", "qwen-err401-stream.stdout", under_condition("success", Some(0)), EXIT),
    ("qwen-stream", "qwen-maxturns-stream.stdout", end(53), Accept),
    ("qwen-stream", "qwen-partial-stream.stdout", end(0), Accept),
    ("qwen-stream", "qwen-sigint.stdout", end(130), Accept),
    // An array of all events.
    ("qwen-stream", "qwen-text-json.stdout", end(0), NotJson),
    ("qwen-stream", "qwen-text-stream.stdout", end(0), Accept),
    ("qwen-stream", "qwen-tool-stream.stdout", end(0), Accept),
    ("qwen-stream", "qwen-toolfail-stream.stdout", end(0), Accept),
    ("pi-json", "pi-badflag.stdout", end(1), Accept),
    ("pi-json", "pi-badmodel.stdout", end(0), Accept),
    ("pi-json", "pi-err400.stdout", end(0), Accept),
    ("pi-json", "pi-err500.stdout", end(0), Accept),
    ("pi-json", "pi-noprompt.stdout", end(0), Accept),
    ("pi-json", "pi-sigterm.stdout", end(143), Accept),
    ("pi-json", "pi-text.stdout", end(0), Accept),
    ("pi-json", "pi-toolfail.stdout", end(0), Accept),
    ("pi-json", "pi-err400.stdout", under_condition("success", Some(0)), EXIT),
    ("vibe-streaming", "vibe-badformat.stdout", end(1), Accept),
    ("vibe-streaming", "vibe-err401-streaming.stdout", end(1), Accept),
    ("vibe-streaming", "vibe-err401-streaming.stdout", end(0), EXIT),
    ("vibe-streaming", "vibe-maxturns-streaming.stdout", end(3), Accept),
    ("vibe-streaming", "vibe-sigterm.stdout", end(3), Accept),
    ("vibe-streaming", "vibe-tool-streaming.stdout", end(0), Accept),
    // One pretty array.
    ("vibe-streaming", "vibe-text-json.stdout", end(0), NotJson),
    ("vibe-json", "vibe-badformat.stdout", end(1), Accept),
    ("vibe-json", "vibe-text-json.stdout", end(0), Accept),
    ("vibe-json", "vibe-tool-streaming.stdout", end(0), NotJson),
    ("opencode-events", "opencode-bus-err400.jsonl", UNKNOWN, Accept),
    ("opencode-events", "opencode-bus-text.jsonl", UNKNOWN, Accept),
    ("opencode-events", "opencode-bus-tool.jsonl", UNKNOWN, Accept),
    // A version before --format: it prints its help to standard output.
    ("opencode-run", "opencode-0.5.29-err400.stdout", end(1), NotJson),
    ("opencode-run", "opencode-0.5.29-tool.stdout", end(1), NotJson),
    // The provider failed, and there is no error line.
    ("opencode-run", "opencode-1.0.0-err400.stdout", under_condition("failed", Some(1)), EXIT),
    ("opencode-run", "opencode-1.0.0-tool.stdout", under_condition("failed", Some(1)), EXIT),
    ("opencode-run", "opencode-1.1.11-err400.stdout", end(1), Accept),
    ("opencode-run", "opencode-1.1.11-tool.stdout", end(0), Accept),
    ("opencode-run", "opencode-attach-err400.stdout", under_condition("attached-failed", None), Accept),
    ("opencode-run", "opencode-attach-text.stdout", UNKNOWN, Accept),
    ("opencode-run", "opencode-attach-tool.stdout", UNKNOWN, Accept),
    ("opencode-run", "opencode-attach-write.stdout", UNKNOWN, Accept),
    ("opencode-run", "opencode-badflag.stdout", end(1), Accept),
    ("opencode-run", "opencode-badmodel.stdout", end(1), Accept),
    ("opencode-run", "opencode-badprovider.stdout", end(1), Accept),
    ("opencode-run", "opencode-empty.stdout", end(0), Accept),
    ("opencode-run", "opencode-err400.stdout", end(1), Accept),
    ("opencode-run", "opencode-err500.stdout", end(1), Accept),
    // It begins steps for ever, and never stops.
    ("opencode-run", "opencode-midstream.stdout", UNKNOWN, Reject(Against::Stream, "steps")),
    ("opencode-run", "opencode-permission-reject.stdout", end(0), Accept),
    ("opencode-run", "opencode-sigint.stdout", end(130), Accept),
    ("opencode-run", "opencode-text.stdout", end(0), Accept),
    ("opencode-run", "opencode-tool.stdout", end(0), Accept),
    ("opencode-run", "opencode-two.stdout", end(0), Accept),
    ("opencode-run", "opencode-unknown-tool.stdout", end(0), Accept),
    ("codex-exec", "codex-badflag.stdout", end(2), Accept),
    ("codex-exec", "codex-err401.stdout", end(1), Accept),
    ("codex-exec", "codex-err429.stdout", end(1), Accept),
    ("codex-exec", "codex-noprompt.stdout", end(1), Accept),
    ("codex-exec", "codex-outputschema.stdout", end(0), Accept),
    ("codex-exec", "codex-sigint2.stdout", under_condition("interrupted", Some(1)), Accept),
    // The same without being told: exit code 1 is that of a failed turn, which is not there.
    ("codex-exec", "codex-sigint2.stdout", end(1), EXIT),
    // Its recorded code is that of timeout(1), which sent the signal.
    ("codex-exec", "codex-sigterm.stdout", under_condition("terminated", None), Accept),
    ("codex-exec", "codex-text.stdout", end(0), Accept),
    ("codex-exec", "codex-tool.stdout", end(0), Accept),
    ("codex-exec", "codex-two.stdout", end(0), Accept),
    ("codex-exec", "codex-unknown-tool.stdout", end(0), Accept),
    // Streams and documents of others.
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
fn shared_captures_are_judged_as_the_facts_say() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/captures"));
    let mut wrong = Vec::new();
    // What the programs print also keeps the closed form of their version.
    let versions = [("dexter-flat", "2026.2"), ("dexter-nested", "2026.2"), ("agent-js", "1.5.8")];
    let forms = TABLE.iter().flat_map(|(name, file, ending, expected)| {
        let version = versions.iter().find(|(of, _)| of == name).map(|(_, version)| version);
        let closed = version.map(|version| format!("{name}@{version}"));
        std::iter::once((*name).to_owned()).chain(closed).map(move |form| (form, file, ending, expected))
    });
    for (name, file, ending, expected) in forms {
        let name = name.as_str();
        let contract = Contract::bundled(name).unwrap();
        let stderr = std::fs::read(folder.join(file).with_extension("stderr")).ok();
        let ending = RunExit { stderr: stderr.as_deref(), ..*ending };
        let got = judge(&contract, &std::fs::read(folder.join(file)).unwrap(), &ending);
        let agreed = match (&got, expected) {
            (Got::NotJson, NotJson) => true,
            (Got::Judged(found), Accept) => found.is_empty(),
            (Got::Judged(found), Reject(broken, rule)) => {
                found.iter().any(|violation| violation.0 == *broken && violation.1.ends_with(rule))
            }
            _ => false,
        };
        println!("{name:16} {file:36} {expected:?} {}", if agreed { "as expected" } else { "DIFFERENT" });
        if !agreed {
            wrong.push(format!("{name} {file}: expected {expected:?}, got {got:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[derive(Debug)]
enum Got {
    NotJson,
    Judged(Vec<(Against, String, String)>),
}

fn judge(contract: &Contract, bytes: &[u8], ending: &RunExit<'_>) -> Got {
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
        return Got::NotJson;
    }
    found.extend(judge.finish(ending).violations);
    let short = found.into_iter().map(|v| {
        let text = v.to_string();
        (v.against, v.rule, format!("event {:?} {text}", v.event))
    });
    Got::Judged(short.collect())
}
