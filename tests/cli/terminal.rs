//! Output on terminals and in CI logs: colour, and escaped control sequences.

use super::support::{CliOutput, Folder, output_of, program};
use std::ffi::OsStr;

#[test]
fn the_flag_and_the_environment_decide_on_colour() {
    let list = |flags: &[&str], env: &[(&str, &str)]| {
        output_of(program().arg("list").args(flags).envs(env.iter().copied())).out.contains('\x1b')
    };
    assert!(!list(&[], &[]), "no colour without a terminal");
    assert!(list(&["--color", "always"], &[]));
    assert!(list(&["--color=always"], &[("NO_COLOR", "1")]));
    assert!(list(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!list(&[], &[("CLICOLOR_FORCE", "0")]));
    assert!(!list(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(list(&[], &[("FORCE_COLOR", "1")]) && !list(&[], &[("FORCE_COLOR", "0")]));
    assert!(list(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "")]));
    assert!(!list(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    for format in ["json", "jsonl"] {
        assert!(!list(&["--color", "always", "--output", format], &[("CLICOLOR_FORCE", "1")]));
    }
    let error = output_of(program().args(["explain", "x", "--color", "always"])).err;
    assert!(error.starts_with("\x1b["), "{error:?}");
}

/// ESC, C1, bidirectional and zero-width characters, a carriage return, and commands for CI logs.
const CONTROL_SEQUENCES: &str =
    "\x1b]0;owned\x07\x1b[31m\u{9b}2J\u{202e}\u{200b}\r::error::owned ##[group]owned";

/// Asserts that no control character remains, except the colours of the program if `colour`.
fn assert_escaped(bytes: &str, colour: bool) {
    let mut text = bytes.to_owned();
    if colour {
        // Only SGR sequences, such as `\x1b[1;31m`, are removed.
        while let Some(at) = text.find("\x1b[") {
            let end = text[at + 2..].find(|c: char| !c.is_ascii_digit() && c != ';').unwrap() + at + 2;
            assert_eq!(text.as_bytes()[end], b'm', "{text:?}");
            text.replace_range(at..=end, "");
        }
    }
    let raw = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{200b}".contains(c);
    assert!(!text.contains(raw), "{text:?}");
    assert!(!text.contains("##["), "{text:?}");
    assert!(!text.lines().any(|line| line.trim_start().starts_with("::")), "{text:?}");
}

fn assert_streams_escaped(output: &CliOutput, colour: bool) {
    assert_escaped(&output.out, colour);
    assert_escaped(&output.err, colour);
}

#[test]
fn control_sequences_of_a_target_are_escaped() {
    let folder = Folder::new();
    let name = format!("{CONTROL_SEQUENCES}cli");
    assert!(!name.contains('/'));
    let help = format!(
        "Usage: x\n\nCommands:\n  list  {CONTROL_SEQUENCES}\n  other{CONTROL_SEQUENCES}  Lists\n\nOptions:\n  --json  {CONTROL_SEQUENCES}\n"
    );
    folder.write("help", &help);
    folder.write("evil", format!("{CONTROL_SEQUENCES}\n::error::owned\n"));
    let lines = "here=${0%/*}
case $1 in
    --help) cat \"$here/help\" ;;
    fail) cat \"$here/evil\"; cat \"$here/evil\" >&2; exit 1 ;;
    *) cat \"$here/evil\"; cat \"$here/evil\" >&2; exit 7 ;;
esac
";
    folder.script(&name, lines);
    let path = format!("./{name}");
    let probe = format!("1:fail {}", CONTROL_SEQUENCES.replace(['\r', '[', ']', '#'], "_"));
    let check: Vec<&str> = vec!["check", &path, "--probe", "list", "--probe", &probe];
    for (flag, colour) in [("--color=never", false), ("--color=always", true)] {
        let text = folder.run(&[&check[..], &[flag]].concat());
        assert_eq!(text.code, Some(1), "{}", text.err);
        assert!(text.out.contains("\\x1b]0;owned\\x07"), "{}", text.out);
        assert_streams_escaped(&text, colour);
        assert_streams_escaped(&folder.run(&["init", "--print", &path, flag]), colour);
        assert_streams_escaped(&folder.run(&["check", &format!("{CONTROL_SEQUENCES}nothing"), flag]), colour);
        assert_streams_escaped(
            &folder.run(&["check", "--command", &format!("{CONTROL_SEQUENCES}nothing"), flag]),
            colour,
        );
        assert_streams_escaped(
            &folder.run(&["check", "--config", &format!("{CONTROL_SEQUENCES}.toml"), flag]),
            colour,
        );
        for args in [
            &["explain", CONTROL_SEQUENCES][..],
            &[CONTROL_SEQUENCES],
            &["list", CONTROL_SEQUENCES],
            &["check", "--report", CONTROL_SEQUENCES],
        ] {
            assert_streams_escaped(&folder.run(&[args, &[flag]].concat()), colour);
        }
    }
    for flag in ["--json", "--jsonl"] {
        let output = folder.run(&[&check[..], &[flag]].concat());
        assert_streams_escaped(&output, false);
        // The value is unchanged.
        let target = if flag == "--json" { output.data() } else { output.lines()[0].clone() };
        assert_eq!(target["target"]["name"], name.as_str());
        assert_streams_escaped(&folder.run(&["explain", CONTROL_SEQUENCES, flag]), false);
        assert!(
            folder.run(&["explain", CONTROL_SEQUENCES, flag]).error()["message"]
                .to_string()
                .contains("owned")
        );
    }
    let file = folder.run(&[&check[..], &["--quiet", "--report", "text=report", "--color=always"]].concat());
    assert_streams_escaped(&file, true);
    assert_escaped(&folder.read("report"), false);
    // A configuration with control sequences in a key.
    folder.write("evil.toml", format!("[target]\n\"{}\" = 1\n", CONTROL_SEQUENCES.escape_default()));
    let toml = folder.run(&["check", "--config", "evil.toml", OsStr::new(&path).to_str().unwrap()]);
    assert_eq!(toml.code, Some(78));
    assert_streams_escaped(&toml, false);
}
