//! Values that nobody is told of what a run printed, wrote and called.

use super::{python, sh};
use crate::runs::{bytes, options, text};
use agentnative::model::Variant;
use agentnative::run::{Bytes, Leftover, Observation, Outcome, RunSpec, Runner, Workspace};

/// A value with bytes that Base64, URLs and JSON spell in different ways.
const SECRET: &str = "tok\"én~?>/\\9876";

fn run_without(values: &[&str], spec: RunSpec) -> Observation {
    let mut runner = Runner::new(options());
    runner.redact(values.iter().map(Into::into).collect()).unwrap();
    runner.run_all_blocking(vec![spec], &mut |_| {}).unwrap().observations.remove(0)
}

/// What is told of a run that prints this, as Python has it, with the secret as `s` (bytes) and `t` (text).
fn told(printed: &str) -> String {
    let script = format!(
        "import sys, json, base64, urllib.parse\nt = {}\ns = t.encode()\nr = {printed}\n\
         sys.stdout.buffer.write(r if type(r) is bytes else r.encode())",
        serde_json::to_string(SECRET).unwrap(),
    );
    let seen = run_without(&[SECRET], python(&script, Variant::Plain));
    assert_eq!(text(&seen.stderr), "", "{printed}");
    text(&seen.stdout)
}

#[test]
fn every_spelling_has_as_many_stars() {
    let stars = |count: usize| "*".repeat(count);
    let len = SECRET.len();
    assert_eq!(told("'a ' + t + ' b\\n'"), format!("a {} b\n", stars(len)));
    assert_eq!(told("'<' + s.hex() + '>'"), format!("<{}>", stars(2 * len)));
    assert_eq!(told("'<' + s.hex().upper() + '>'"), format!("<{}>", stars(2 * len)));
    assert_eq!(told("t[::-1]"), stars(len));
    assert_eq!(told("s[::-1]"), stars(len), "its bytes backwards, which are no text");
    // JSON, as it has to be escaped and as it can be, is JSON afterwards.
    for ascii in ["True", "False"] {
        let json = told(&format!("json.dumps({{'a': t, 'b': [1]}}, ensure_ascii={ascii})"));
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["b"][0], 1);
        assert!(value["a"].as_str().unwrap().chars().all(|char| char == '*'), "{json}");
    }
    assert!(told("urllib.parse.quote(t, safe='')").starts_with("***"), "as in a URL");
    assert!(!told("urllib.parse.quote(t, safe='')").contains("9876"));
}

#[test]
fn base64_is_found_in_each_alphabet_and_at_each_alignment() {
    let told = told(
        "b'\\n'.join(e(b'.' * n + s + a).rstrip(strip) for e in (base64.b64encode, base64.urlsafe_b64encode) \
         for n in range(3) for a in (b'', b'!tail') for strip in (b'', b'='))",
    );
    assert_eq!(told.lines().count(), 24);
    for line in told.lines() {
        // All but what depends on what stands beside it: at most a character on each side.
        let stars = line.matches('*').count();
        assert!((SECRET.len() * 8 / 6 - 1..=SECRET.len() * 8 / 6).contains(&stars), "{line}");
        assert!(line.trim_matches(|char: char| char != '*').chars().all(|char| char == '*'), "{line}");
    }
    // As `base64` breaks it into lines.
    let wrapped = super::redaction::told("base64.encodebytes(b'.' * 45 + s + b'.' * 45)");
    assert_eq!(wrapped.lines().map(str::len).collect::<Vec<_>>(), [76, 68], "{wrapped}");
    assert!(wrapped.lines().all(|line| line.contains("***")), "{wrapped}");
}

#[test]
fn numbers_stay_numbers_and_short_values_and_words_stay() {
    let values = ["4815162342", "3.14159", "true", "abc12", "production", "  padded-value \n"];
    let printed =
        r#"{"id":4815162342,"f":[-3.14159e2],"ok":true,"c":"abc12","e":"production","p":"padded-value"}"#;
    let seen = run_without(&values, sh(&format!("printf %s '{printed}'"), Variant::Plain));
    let expected =
        r#"{"id":9999999999,"f":[-9.99999e2],"ok":true,"c":"abc12","e":"production","p":"************"}"#;
    assert_eq!(text(&seen.stdout), expected);
    // Nothing is taken out of what nobody named.
    let seen = super::run(sh(&format!("printf %s '{printed}'"), Variant::Plain));
    assert_eq!(text(&seen.stdout), printed);
}

#[test]
fn large_output_is_searched_over_all_borders() {
    let (secret, piece) = ("sk-0123456789abcdef", 256 * 1024);
    // Around each border of a piece, at another offset each time; broken into lines at the last ones.
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
        let seen = run_without(&[secret], python(&format!("{script}{write}"), variant));
        let expected = super::run(python(&format!("{script}{stars}{write}"), variant));
        assert_eq!((text(&seen.stderr), text(&expected.stderr)), (String::new(), String::new()));
        assert!(bytes(&seen.stdout) == bytes(&expected.stdout), "{variant:?}");
        let digest = |seen: &Outcome| match &seen.stdout.bytes {
            Bytes::File { digest, len, .. } => (*len, *digest),
            Bytes::Memory(_) => panic!("so much is not kept in memory"),
        };
        assert_eq!(digest(&seen), digest(&expected), "{variant:?}");
    }
}

#[test]
fn what_is_cut_off_is_no_rest_of_a_secret() {
    let secret = "sk-0123456789abcdef";
    let mut options = options();
    options.max_output = 100_000;
    let mut runner = Runner::new(options);
    runner.redact(vec![secret.into()]).unwrap();
    // The limit is behind the tenth byte of the last one.
    let script = format!("import sys; sys.stdout.write('x' * 99990 + '{secret}' * 9)");
    let seen = runner.run_all_blocking(vec![python(&script, Variant::Plain)], &mut |_| {}).unwrap();
    let told = text(&seen.observations[0].stdout);
    assert_eq!((told.len(), &told[99_985..]), (100_000, "xxxxx**********"));
}

#[test]
fn names_and_paths_and_arguments_hold_none() {
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
    let seen = run_without(&[secret], spec);
    let stars = "*".repeat(secret.len());
    let trips = seen.trips.as_ref().unwrap();
    assert_eq!(trips[0].args, [stars.as_str()]);
    let is_stars = |left: &Leftover| left.name == "*".repeat(15).as_bytes();
    assert!(seen.left_behind.iter().any(is_stars), "{:?}: the kernel keeps 15 bytes", seen.left_behind);
    assert!(seen.changes.as_ref().unwrap().list.iter().any(|change| change.path == format!("a-{stars}")));
    let terminal = String::from_utf8_lossy(&seen.terminal);
    assert!(terminal.contains(&stars), "{terminal}");
    let recorded = serde_json::to_string(&Observation { argv: Vec::new(), ..seen }).unwrap();
    assert!(!recorded.contains("sk-012"), "{recorded}");
}
