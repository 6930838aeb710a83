//! Redaction of secrets in the outputs, files, processes and arguments of runs.

use super::{python, sh};
use crate::runs::{bytes, options, text};
use agentnative::model::Variant;
use agentnative::run::{Bytes, Leftover, Observation, Outcome, RunSpec, Runner, Workspace};

/// A value that is encoded differently in Base64, URLs and JSON.
const SECRET: &str = "tok\"én~?>/\\9876";

fn run_redacted(values: &[&str], spec: RunSpec) -> Observation {
    let mut runner = Runner::new(options());
    runner.redact(values.iter().map(Into::into).collect()).unwrap();
    runner.run_all(vec![spec], &mut |_| {}).unwrap().observations.remove(0)
}

/// Redacted stdout of a run that prints the Python expression `printed`, in which `s` is the secret in bytes and `t` is
/// its text.
fn redacted(printed: &str) -> String {
    let script = format!(
        "import sys, json, base64, urllib.parse\nt = {}\ns = t.encode()\nr = {printed}\n\
         sys.stdout.buffer.write(r if type(r) is bytes else r.encode())",
        serde_json::to_string(SECRET).unwrap(),
    );
    let observation = run_redacted(&[SECRET], python(&script, Variant::Plain));
    assert_eq!(text(&observation.stderr), "", "{printed}");
    text(&observation.stdout)
}

#[test]
fn each_encoding_is_replaced_by_stars_of_its_length() {
    let stars = |count: usize| "*".repeat(count);
    let len = SECRET.len();
    assert_eq!(redacted("'a ' + t + ' b\\n'"), format!("a {} b\n", stars(len)));
    assert_eq!(redacted("'<' + s.hex() + '>'"), format!("<{}>", stars(2 * len)));
    assert_eq!(redacted("'<' + s.hex().upper() + '>'"), format!("<{}>", stars(2 * len)));
    assert_eq!(redacted("t[::-1]"), stars(len));
    assert_eq!(redacted("s[::-1]"), stars(len), "its reversed bytes, which are not UTF-8");
    // JSON with necessary and with optional escapes remains valid JSON.
    for ascii in ["True", "False"] {
        let json = redacted(&format!("json.dumps({{'a': t, 'b': [1]}}, ensure_ascii={ascii})"));
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["b"][0], 1);
        assert!(value["a"].as_str().unwrap().chars().all(|char| char == '*'), "{json}");
    }
    assert!(redacted("urllib.parse.quote(t, safe='')").starts_with("***"), "as in a URL");
    assert!(!redacted("urllib.parse.quote(t, safe='')").contains("9876"));
}

#[test]
fn base64_is_redacted_in_each_alphabet_and_at_each_alignment() {
    let output = redacted(
        "b'\\n'.join(e(b'.' * n + s + a).rstrip(strip) for e in (base64.b64encode, base64.urlsafe_b64encode) \
         for n in range(3) for a in (b'', b'!tail') for strip in (b'', b'='))",
    );
    assert_eq!(output.lines().count(), 24);
    for line in output.lines() {
        // All characters except those that also encode a neighbouring byte: at most one on each side.
        let stars = line.matches('*').count();
        assert!((SECRET.len() * 8 / 6 - 1..=SECRET.len() * 8 / 6).contains(&stars), "{line}");
        assert!(line.trim_matches(|char: char| char != '*').chars().all(|char| char == '*'), "{line}");
    }
    // Lines wrapped as `base64` does.
    let wrapped = redacted("base64.encodebytes(b'.' * 45 + s + b'.' * 45)");
    assert_eq!(wrapped.lines().map(str::len).collect::<Vec<_>>(), [76, 68], "{wrapped}");
    assert!(wrapped.lines().all(|line| line.contains("***")), "{wrapped}");
}

#[test]
fn numbers_remain_numbers_and_short_values_and_words_are_kept() {
    let values = ["4815162342", "3.14159", "true", "abc12", "production", "  padded-value \n"];
    let printed =
        r#"{"id":4815162342,"f":[-3.14159e2],"ok":true,"c":"abc12","e":"production","p":"padded-value"}"#;
    let observation = run_redacted(&values, sh(&format!("printf %s '{printed}'"), Variant::Plain));
    let expected =
        r#"{"id":9999999999,"f":[-9.99999e2],"ok":true,"c":"abc12","e":"production","p":"************"}"#;
    assert_eq!(text(&observation.stdout), expected);
    // Without secrets the output is unchanged.
    let outcome = super::run(sh(&format!("printf %s '{printed}'"), Variant::Plain));
    assert_eq!(text(&outcome.stdout), printed);
}

#[test]
fn secrets_across_chunk_boundaries_of_large_output_are_redacted() {
    let (secret, piece) = ("sk-0123456789abcdef", 256 * 1024);
    // Secrets at each chunk boundary, each at another offset, and secrets that contain newlines.
    let script = format!(
        "import sys\ns = b'{secret}'\nout = bytearray(b'x' * ({piece} * 20 + 777))\n\
         for n in range(1, 20):\n    at = n * {piece} - n\n    out[at:at + len(s)] = s\n\
         for n in (1, 5000):\n    out += b'x' * {piece} + s[:5] + b'\\n' * n + s[5:]\n\
         out += b'\\n' * 600000 + s\n"
    );
    let stars = "out = out.replace(s, b'*' * len(s))\n\
        for n in (1, 5000):\n    out = out.replace(s[:5] + b'\\n' * n + s[5:], b'*' * 5 + b'\\n' * n + b'*' * (len(s) - 5))\n";
    for variant in [Variant::Plain, Variant::File] {
        let write = "sys.stdout.buffer.write(out)\n";
        let observation = run_redacted(&[secret], python(&format!("{script}{write}"), variant));
        let expected = super::run(python(&format!("{script}{stars}{write}"), variant));
        assert_eq!((text(&observation.stderr), text(&expected.stderr)), (String::new(), String::new()));
        assert!(bytes(&observation.stdout) == bytes(&expected.stdout), "{variant:?}");
        let digest = |outcome: &Outcome| match &outcome.stdout.bytes {
            Bytes::File { digest, len, .. } => (*len, *digest),
            Bytes::Memory(_) => panic!("a large output is stored in a file"),
        };
        assert_eq!(digest(&observation), digest(&expected), "{variant:?}");
    }
}

#[test]
fn a_truncated_secret_is_redacted() {
    let secret = "sk-0123456789abcdef";
    let mut options = options();
    options.max_output = 100_000;
    let mut runner = Runner::new(options);
    runner.redact(vec![secret.into()]).unwrap();
    // The output limit is after the tenth byte of a secret.
    let script = format!("import sys; sys.stdout.write('x' * 99990 + '{secret}' * 9)");
    let finished = runner.run_all(vec![python(&script, Variant::Plain)], &mut |_| {}).unwrap();
    let printed = text(&finished.observations[0].stdout);
    assert_eq!((printed.len(), &printed[99_985..]), (100_000, "xxxxx**********"));
}

#[test]
fn names_paths_and_arguments_are_redacted() {
    let secret = "sk-0123456789abcdef";
    let mut spec = sh(
        &format!(
            "less {secret} </dev/null; touch a-{secret}; mkdir {secret}; echo {secret} >/dev/tty; \
             printf '#!/bin/sh\nsleep 1000\necho\n' >{secret}1; chmod +x {secret}1; setsid ./{secret}1 & sleep 0.1"
        ),
        Variant::TerminalIn,
    );
    spec.job.workspace = Some(Workspace::Empty);
    spec.job.snapshots = true;
    let observation = run_redacted(&[secret], spec);
    let stars = "*".repeat(secret.len());
    let trips = observation.trips.as_ref().unwrap();
    assert_eq!(trips[0].args, [stars.as_str()]);
    let is_stars = |left: &Leftover| left.name == "*".repeat(15).as_bytes();
    assert!(
        observation.left_behind.iter().any(is_stars),
        "{:?}: the kernel limits names to 15 bytes",
        observation.left_behind
    );
    assert!(
        observation.changes.as_ref().unwrap().list.iter().any(|change| change.path == format!("a-{stars}"))
    );
    let terminal = String::from_utf8_lossy(&observation.terminal);
    assert!(terminal.contains(&stars), "{terminal}");
    let recorded = serde_json::to_string(&Observation { argv: Vec::new(), ..observation }).unwrap();
    assert!(!recorded.contains("sk-012"), "{recorded}");
}
