//! The skeleton that `agentnative init` writes.

use agentnative::config::{Asking, Config, Date, Known};
use agentnative::target::Help;
use agentnative::target::skeleton;
use agentnative_contract::error::Error;
use std::path::Path;

const KNOWN: Known<'static> =
    Known { checks: &["p2-output-jsonl"], contracts: &[], today: Date { year: 2026, month: 11, day: 21 } };

fn parse(text: &str) -> Result<Config, Error> {
    Config::parse(text, Path::new("agentnative.toml"), &KNOWN)
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// The skeleton with all its suggestions turned on.
fn confirmed(skeleton: &str) -> String {
    let confirm = |line: &str| match line.strip_prefix('#') {
        Some(code) if !code.is_empty() && !code.starts_with(' ') => format!("{code}\n"),
        _ => format!("{line}\n"),
    };
    skeleton.lines().map(confirm).collect()
}

#[test]
fn a_skeleton_is_valid_as_it_is_and_with_all_its_suggestions() {
    let helps = [
        "",
        "Commands:\n  push  Send \"them\" \\ all\n  list, l  List\n  get-all  Get\n  help  Help\n\nOptions:\n  --json  JSON\n",
        "Commands:\n  list  List\n\nOptions:\n  --output <F>  text, json or jsonl\n",
    ];
    for help in helps {
        let help = Help::parse(help.as_bytes());
        let command = strings(&["./target/debug/my cli", "it's \"x\"\n"]);
        for command in [None, Some(&command[..])] {
            let skeleton = skeleton("my\ncli\x1b[1m", command, &help);
            assert_eq!(skeleton, agentnative::target::skeleton("my\ncli\x1b[1m", command, &help));
            assert!(skeleton.chars().all(|char| char == '\n' || !char.is_control()), "{skeleton}");
            let config = parse(&skeleton).unwrap_or_else(|error| panic!("{error:?}\n{skeleton}"));
            assert_eq!((config.targets.len(), config.probes.len(), config.waivers.len()), (1, 0, 0));
            assert_eq!(config.targets[0].command.is_some(), command.is_some());
            let whole = confirmed(&skeleton).replace("exit_codes = [0, 1, 2] ", "");
            let config = parse(&whole).unwrap_or_else(|error| panic!("{error:#?}\n{whole}"));
            assert!(config.probes.len() >= 4, "{whole}");
        }
    }
}

#[test]
fn a_skeleton_suggests_what_the_help_says() {
    let help = "Commands:\n  push  Send\n  list  List the notes\n\nOptions:\n  --json  JSON\n";
    let text = skeleton("notes", None, &Help::parse(help.as_bytes()));
    let config = parse(&confirmed(&text).replace("exit_codes = [0, 1, 2] ", "")).unwrap();
    let asking = |args: &[&str]| Asking::With(strings(args));
    assert_eq!(config.targets[0].formats.json, asking(&["--json"]));
    assert_eq!(config.targets[0].formats.text, asking(&[]));
    let probes: Vec<(&str, i32)> = config.probes.iter().map(|probe| (&*probe.name, probe.exit)).collect();
    assert_eq!(probes, [("list", 0), ("push", 0), ("not-found", 1), ("signed-out", 77), ("bad-config", 78)]);
    assert!(text.contains("# List the notes\n#[[probe]]\n#name = \"list\"\n#args = [\"list\"]\n"), "{text}");
    assert!(text.contains("# These may change something:\n\n# Send\n#[[probe]]\n"), "{text}");
    let many: String = (0..60).map(|n| format!("  cmd{n}  Does {n}\n")).collect();
    let text = skeleton("many", None, &Help::parse(format!("Commands:\n{many}").as_bytes()));
    assert_eq!(text.matches("#[[probe]]").count(), 43);
    assert!(text.contains("# … and 20 more commands"), "{text}");
}
