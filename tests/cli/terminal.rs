//! What a terminal and a CI log get: colour when it is wanted, and never a stranger's bytes raw.

use super::support::{CliOutput, Folder, output_of, program};
use std::ffi::OsStr;

#[test]
fn colour_is_decided_by_flag_and_environment() {
    let list = |flags: &[&str], env: &[(&str, &str)]| {
        output_of(program().arg("list").args(flags).envs(env.iter().copied())).out.contains('\x1b')
    };
    assert!(!list(&[], &[]), "no terminal, no colour");
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

/// ESC, C1, bidi, zero width, a carriage return, and commands to CI log readers.
const EVIL: &str = "\x1b]0;owned\x07\x1b[31m\u{9b}2J\u{202e}\u{200b}\r::error::owned ##[group]owned";

/// Nothing of the above gets through; what is drawn by ourselves may.
fn harmless(bytes: &str, colour: bool) {
    let mut text = bytes.to_owned();
    if colour {
        // SGR only, such as `\x1b[1;31m`.
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

fn both(said: &CliOutput, colour: bool) {
    harmless(&said.out, colour);
    harmless(&said.err, colour);
}

#[test]
fn bytes_of_a_target_never_come_raw() {
    let folder = Folder::new();
    let name = format!("{EVIL}cli");
    assert!(!name.contains('/'));
    let help = format!(
        "Usage: x\n\nCommands:\n  list  {EVIL}\n  other{EVIL}  Lists\n\nOptions:\n  --json  {EVIL}\n"
    );
    folder.write("help", &help);
    folder.write("evil", format!("{EVIL}\n::error::owned\n"));
    let lines = "here=${0%/*}
case $1 in
    --help) cat \"$here/help\" ;;
    fail) cat \"$here/evil\"; cat \"$here/evil\" >&2; exit 1 ;;
    *) cat \"$here/evil\"; cat \"$here/evil\" >&2; exit 7 ;;
esac
";
    folder.script(&name, lines);
    let path = format!("./{name}");
    let probe = format!("1:fail {}", EVIL.replace(['\r', '[', ']', '#'], "_"));
    let check: Vec<&str> = vec!["check", &path, "--probe", "list", "--probe", &probe];
    for (flag, colour) in [("--color=never", false), ("--color=always", true)] {
        let text = folder.run(&[&check[..], &[flag]].concat());
        assert_eq!(text.code, Some(1), "{}", text.err);
        assert!(text.out.contains("\\x1b]0;owned\\x07"), "{}", text.out);
        both(&text, colour);
        both(&folder.run(&["init", "--print", &path, flag]), colour);
        both(&folder.run(&["check", &format!("{EVIL}nothing"), flag]), colour);
        both(&folder.run(&["check", "--command", &format!("{EVIL}nothing"), flag]), colour);
        both(&folder.run(&["check", "--config", &format!("{EVIL}.toml"), flag]), colour);
        for args in [&["explain", EVIL][..], &[EVIL], &["list", EVIL], &["check", "--report", EVIL]] {
            both(&folder.run(&[args, &[flag]].concat()), colour);
        }
    }
    for flag in ["--json", "--jsonl"] {
        let said = folder.run(&[&check[..], &[flag]].concat());
        both(&said, false);
        // Nothing is lost.
        let target = if flag == "--json" { said.data() } else { said.lines()[0].clone() };
        assert_eq!(target["target"]["name"], name.as_str());
        both(&folder.run(&["explain", EVIL, flag]), false);
        assert!(folder.run(&["explain", EVIL, flag]).error()["message"].to_string().contains("owned"));
    }
    let file = folder.run(&[&check[..], &["--quiet", "--report", "text=report", "--color=always"]].concat());
    both(&file, true);
    harmless(&folder.read("report"), false);
    // A configuration with such keys and values.
    folder.write("evil.toml", format!("[target]\n\"{}\" = 1\n", EVIL.escape_default()));
    let toml = folder.run(&["check", "--config", "evil.toml", OsStr::new(&path).to_str().unwrap()]);
    assert_eq!(toml.code, Some(78));
    both(&toml, false);
}
