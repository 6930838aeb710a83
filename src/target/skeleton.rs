//! The skeleton that `agentnative init` writes.

use super::help::{Command, Help};
use crate::config::Formats;
use std::fmt::Write;

/// More commands than this are only counted.
const MOST: usize = 40;

/// Commands with these names mostly read only, so their probes come first.
const READERS: [&str; 23] = [
    "explain", "list", "ls", "show", "get", "status", "info", "version", "view", "search", "find",
    "describe", "inspect", "whoami", "doctor", "check", "env", "tree", "log", "stats", "schema", "query",
    "validate",
];

/// The text of a skeleton for a target: its command, and what its help says, for the author to
/// confirm. Nothing that the help alone tells of is turned on, so as it is it declares no probe;
/// it is a valid configuration, and the same for the same input.
pub fn skeleton(name: &str, command: Option<&[String]>, help: &Help) -> String {
    let mut text = String::new();
    section(
        &mut text,
        &[
            &format!("What agentnative checks `{}` by. `agentnative check` reads this file.", plain(name)),
            "Lines with a `#` and no space after it are suggestions: confirm one by removing the `#`.",
        ],
    );
    target(&mut text, command, help);
    probes(&mut text, help);
    exit_codes(&mut text);
    section(&mut text, &["A fault that is known and accepted, for a time:"]);
    text.push_str(
        "#[[waiver]]\n#check = \"p2-output-jsonl\"\n#reason = \"why, and where it is tracked\"\n#expires = 2099-12-31\n",
    );
    text
}

/// What else can be said of a target.
const SETTINGS: &str = r##"#errors = "stdout"    # if the error object of a JSON mode goes there; else stderr
#schema = ["schema"]    # the arguments that print the schema of its output
#output_modules = ["src/output"]    # where its code prints; else found by name and content
#exit_codes = [0, 1, 2]    # the codes that it has, if not all of 0, 1, 2, 77, 78
#usage = 2    # its exit code for wrong calls, if it is another
#default_format = "text"    # what comes without a flag
#timeout = 10    # seconds a run
"##;

fn target(text: &mut String, command: Option<&[String]>, help: &Help) {
    text.push_str("\n[target]\n");
    match command {
        Some(command) => line(text, &format!("command = {}", array(command))),
        None => line(
            text,
            "#command = [\"./path/to/program\"]    # relative to this file; else found from the manifest",
        ),
    }
    let default = Formats::default();
    let mut guessed = false;
    for (format, asking, default) in
        [("json", &help.json, &default.json), ("jsonl", &help.jsonl, &default.jsonl)]
    {
        if let Some(asking) = asking.as_ref().filter(|asking| default.args() != Some(asking)) {
            guessed = true;
            line(
                text,
                &format!("#formats.{format} = {}    # how the help seems to ask for it", array(asking)),
            );
        }
    }
    if guessed {
        line(text, "#formats.text = []    # no flag asks for text");
    } else {
        line(
            text,
            "#formats.json = [\"--format\", \"json\"]    # how a format is asked for, if not --output FORMAT",
        );
    }
    if help.jsonl.is_none() {
        line(text, "#formats.jsonl = false    # if it has no such format");
    }
    text.push_str(SETTINGS);
}

/// A block for each command, those that mostly read only first.
fn probes(text: &mut String, help: &Help) {
    section(
        text,
        &[
            "Probes: ways to call the target that may be run again and again, under several conditions.",
            "They are never guessed and run; keep those that change nothing and give them arguments.",
            "What asks for a format goes after these; \"{format}\" among them marks another place.",
        ],
    );
    if help.commands.is_empty() {
        block(text, "Its main job, with arguments that give some output:", "run", &[], 0);
        return;
    }
    let reads = |command: &&Command| {
        READERS
            .iter()
            .any(|reader| command.name == *reader || command.name.starts_with(&format!("{reader}-")))
    };
    let candidates = help.commands.iter().filter(|command| command.name != "help");
    let (readers, others): (Vec<&Command>, Vec<&Command>) = candidates.partition(reads);
    let count = readers.len() + others.len();
    let mut left = MOST;
    for (title, group) in
        [("By their names, these only read:", readers), ("These may change something:", others)]
    {
        if left > 0 && !group.is_empty() {
            section(text, &[title]);
        }
        for command in group.into_iter().take(left) {
            block(text, &plain(&command.about), &command.name, std::slice::from_ref(&command.name), 0);
            left -= 1;
        }
    }
    if count > MOST {
        let _ = writeln!(text, "\n# … and {} more commands in its help", count - MOST);
    }
}

/// A block for each exit code that a probe without one does not exercise.
fn exit_codes(text: &mut String) {
    section(
        text,
        &[
            "Failing on purpose: each exit code of the target needs a probe that ends with it.",
            "(2, usage, is exercised by an unknown flag without a probe.)",
        ],
    );
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let cases = [
        ("1, general: what was asked for cannot be done", "not-found", words(&["show", "no-such-thing"]), 1),
        ("77, authentication or permission: signed out, a refused key", "signed-out", words(&["whoami"]), 77),
        (
            "78, configuration: a broken configuration file",
            "bad-config",
            words(&["--config", "/dev/null/x"]),
            78,
        ),
    ];
    for (about, name, args, exit) in cases {
        block(text, about, name, &args, exit);
    }
}

/// A probe, commented out.
fn block(text: &mut String, about: &str, name: &str, args: &[String], exit: i32) {
    text.push('\n');
    if !about.is_empty() {
        line(text, &format!("# {about}"));
    }
    line(text, "#[[probe]]");
    line(text, &format!("#name = {}", string(name)));
    line(text, &format!("#args = {}", array(args)));
    if exit != 0 {
        line(text, &format!("#exit = {exit}"));
    }
}

fn section(text: &mut String, lines: &[&str]) {
    if !text.is_empty() {
        text.push('\n');
    }
    for words in lines {
        line(text, &format!("# {words}"));
    }
}

fn line(text: &mut String, words: &str) {
    text.push_str(words);
    text.push('\n');
}

fn string(text: &str) -> String {
    toml::Value::String(text.replace(char::is_control, " ")).to_string()
}

fn array(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| string(word)).collect();
    format!("[{}]", words.join(", "))
}

/// Words of a stranger for a comment: one line without control characters, not too long.
fn plain(text: &str) -> String {
    let text: String =
        text.chars().map(|char| if char.is_control() { ' ' } else { char }).take(100).collect();
    text.trim().to_owned()
}
