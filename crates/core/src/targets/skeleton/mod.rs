//! The configuration that `agentnative init` writes.

mod features;
mod formats;
mod next;
mod toml_lines;

use super::commands::{Call, Commands};
use super::effect::Effect;
use super::help::Operand;
use crate::config::{FORMAT_PLACE, ProbeConfig, TargetConfig};
use formats::TargetFormats;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use toml_lines::{array, line, plain, section, string};

/// How editors with a TOML language server complete the file.
const EDITORS: &str =
    "# For completion in editors, run `agentnative schema config > agentnative-config.schema.json`, and
# add this as the first line: #:schema ./agentnative-config.schema.json
";

/// More commands than this are only counted.
const MOST: usize = 40;

/// What a configuration is written from.
#[derive(Debug)]
pub struct Skeleton<'a> {
    /// The target's name.
    pub name: &'a str,
    /// Its command; none where it is found from a manifest.
    pub command: Option<&'a [String]>,
    /// What its help pages say.
    pub commands: &'a Commands,
    /// The exit codes that its help names, with their meaning.
    pub exit_codes: &'a BTreeMap<i32, String>,
    /// The probes that its author confirmed.
    pub probes: &'a [ProbeConfig],
}

impl Call {
    /// The call for people, with what it needs: `show <id>`.
    pub fn needed(&self) -> String {
        let mut words = self.args(&placeholder);
        words.retain(|word| word != FORMAT_PLACE);
        plain(&words.join(" "))
    }

    /// The call for people, with what it needs and takes: `show <id> [page]`.
    pub fn usage(&self) -> String {
        let takes = self.takes.iter().map(|operand| format!("[{}]", plain(&operand.name)));
        [self.needed()]
            .into_iter()
            .filter(|needed| !needed.is_empty())
            .chain(takes)
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The word of these arguments that stands for a value of this call and is none.
    pub fn placeholder_in<'a>(&self, args: &'a [String]) -> Option<&'a String> {
        let open = self.open();
        let stands = |arg: &&String| open.iter().any(|it| **arg == placeholder(it) || **arg == missing(it));
        args.iter().find(stands)
    }

    /// Its probe, with these values for what it needs.
    pub fn probe(&self, target: &str, values: &[String]) -> ProbeConfig {
        let open: Vec<_> = self.open().into_iter().cloned().collect();
        let value = |operand: &_| {
            let at = open.iter().position(|other| other == operand);
            at.and_then(|at| values.get(at).cloned()).unwrap_or_default()
        };
        let args = self.args(&value);
        let words: Vec<&str> = args.iter().map(String::as_str).filter(|word| *word != FORMAT_PLACE).collect();
        let name = if words.is_empty() { plain(target) } else { words.join(" ") };
        ProbeConfig::new(name, args)
    }
}

impl Skeleton<'_> {
    /// The text of the configuration. The confirmed probes are declared; everything else that the help tells of
    /// is a comment. It is valid as it is and with all comments turned on, and the same for the same input.
    pub fn text(&self) -> String {
        let mut text = EDITORS.to_owned();
        section(
            &mut text,
            &[
                &format!("Configuration of `agentnative check` for `{}`.", plain(self.name)),
                "Lines that begin with `#` and no space are suggestions: remove the `#` to turn one on.",
                "`agentnative explain config` describes all keys.",
            ],
        );
        let formats = TargetFormats::of(self.commands);
        self.target(&mut text, &formats);
        self.probes(&mut text, &formats);
        self.failures(&mut text);
        section(&mut text, &["A known failure can be accepted for a time:"]);
        text.push_str(
            "#[[waiver]]\n#check = \"p2-output-jsonl\"\n#reason = \"why, and where it is tracked\"\n#expires = 2099-12-31\n",
        );
        text
    }

    /// The codes of the target: those that its help names, else the default; and those of its probes.
    fn codes(&self) -> Vec<i32> {
        let mut codes: Vec<i32> = match self.exit_codes.len() {
            0 | 1 => TargetConfig::default().conventions.exit_codes,
            _ => [0].into_iter().chain(self.exit_codes.keys().copied()).collect(),
        };
        codes.extend(self.probes.iter().map(|probe| probe.exit));
        codes.sort_unstable();
        codes.dedup();
        codes
    }

    /// Its code for invalid usage.
    fn usage(&self) -> i32 {
        let default = TargetConfig::default().conventions.usage;
        let is_usage = |about: &str| {
            let about = about.to_lowercase();
            ["usage", "argument", "command line", "wrong call"].iter().any(|word| about.contains(word))
        };
        let named = self.exit_codes.iter().find(|(code, about)| **code != 0 && is_usage(about));
        match self.codes().contains(&default) {
            true => default,
            false => named.map_or(default, |(code, _)| *code),
        }
    }

    /// The codes that no probe ends with. Those above 128 are of signals, which no arguments bring about.
    fn missing(&self) -> Vec<i32> {
        let usage = self.usage();
        let probed = |code: i32| self.probes.iter().any(|probe| probe.exit == code);
        let is_missing = |code: &i32| (1..128).contains(code) && *code != usage && !probed(*code);
        self.codes().into_iter().filter(is_missing).collect()
    }

    fn target(&self, text: &mut String, formats: &TargetFormats) {
        text.push_str("\n[target]\n");
        match self.command {
            Some(command) => line(text, &format!("command = {}", array(command))),
            None => line(
                text,
                "#command = [\"./path/to/program\"]    # relative to this file; default: the program of the manifest",
            ),
        }
        formats.write(text);
        let codes = self.codes();
        let note = if codes == TargetConfig::default().conventions.exit_codes {
            "    # remove those that it does not have"
        } else if self.exit_codes.len() > 1 {
            "    # from its help"
        } else {
            ""
        };
        let codes = codes.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
        line(text, &format!("exit_codes = [{codes}]{note}"));
        if self.usage() != TargetConfig::default().conventions.usage {
            line(
                text,
                &format!("usage = {}    # its exit code for invalid usage, from its help", self.usage()),
            );
        }
        line(text, "#errors = \"stdout\"    # where the error object of a JSON mode goes; default stderr");
        match &self.commands.schema {
            Some(schema) => line(text, &format!("schema = {}    # from its help", array(schema))),
            None => line(
                text,
                "#schema = [\"schema\"]    # prints the JSON Schema of its output; false if nothing does",
            ),
        }
        line(text, "#timeout = 10    # seconds per run");
        self.features(text);
    }

    /// The confirmed probes, then a suggestion for each further command: those that seem to only read first.
    fn probes(&self, text: &mut String, formats: &TargetFormats) {
        section(
            text,
            &[
                "Probes: calls of the target. Each is run up to 40 times, so it has to be safe to repeat.",
                "The arguments of a format follow those of the probe; \"{format}\" marks another place.",
                "With `workspace = true` it runs in an empty folder, which shows whether it changes something.",
            ],
        );
        for probe in self.probes {
            let call = self.call_of(&probe.call.args);
            text.push('\n');
            line(text, "[[probe]]");
            line(text, &format!("name = {}", string(&probe.name)));
            line(text, &format!("args = {}", array(&placed(&probe.call.args, call))));
            if probe.exit != 0 {
                line(text, &format!("exit = {}", probe.exit));
            }
            if let Some(own) = call.and_then(|call| formats.of_call(call)) {
                line(text, &own);
            }
        }
        let used =
            |call: &&Call| self.probes.iter().any(|probe| self.call_of(&probe.call.args) == Some(call));
        let open = self.commands.calls.iter().filter(|call| !used(call));
        let open: Vec<&Call> = open.collect();
        let count = open.len();
        let mut left = MOST;
        for (effect, title) in [
            (Effect::Reads, "Not confirmed; by name and description, these only read:"),
            (Effect::Unknown, "Not confirmed; the help does not tell whether these only read:"),
            (Effect::Changes, "Not confirmed; these may change something:"),
        ] {
            let group: Vec<&Call> = open.iter().copied().filter(|call| call.effect() == effect).collect();
            if left > 0 && !group.is_empty() {
                section(text, &[title]);
            }
            for call in group.into_iter().take(left) {
                self.suggest(text, call, formats);
                left -= 1;
            }
        }
        if count > MOST {
            line(text, &format!("\n# … and {} more commands in its help", count - MOST));
        }
        if let Some(unread) = &self.commands.unread {
            section(text, &[&format!("Note: {}.", plain(unread))]);
        }
    }

    fn suggest(&self, text: &mut String, call: &Call, formats: &TargetFormats) {
        let takes: Vec<String> =
            call.takes.iter().map(|operand| format!("[{}]", plain(&operand.name))).collect();
        let takes = if takes.is_empty() { String::new() } else { format!("takes {}", takes.join(" ")) };
        let about = [plain(&call.about), takes].into_iter().filter(|words| !words.is_empty());
        let about: Vec<String> = about.collect();
        let name = if call.words.is_empty() { plain(self.name) } else { call.name() };
        let open: Vec<String> =
            call.open().iter().map(|operand| format!("<{}>", plain(&operand.name))).collect();
        let note = match &open[..] {
            [] => String::new(),
            open => format!("    # replace {}", open.join(" and ")),
        };
        let args = call.args(&placeholder);
        block(text, &about.join("; "), &name, &format!("{}{note}", array(&args)), 0);
        self.of_call(text, call);
        if let Some(own) = formats.of_call(call) {
            line(text, &format!("#{own}"));
        }
    }

    /// The command that a probe calls: the first that is among its arguments, and the longest there.
    fn call_of(&self, args: &[String]) -> Option<&Call> {
        let args: Vec<&String> = args.iter().filter(|arg| *arg != FORMAT_PLACE).collect();
        let found = self.commands.calls.iter().filter_map(|call| {
            let Some(first) = call.words.first() else { return Some((Reverse(usize::MAX), 0, call)) };
            let at = args.iter().position(|arg| *arg == first)?;
            let follows = call.words.len() <= args.len() - at
                && call.words.iter().zip(&args[at..]).all(|(word, arg)| word == *arg);
            follows.then_some((Reverse(at), call.words.len(), call))
        });
        found.max_by_key(|(at, length, _)| (*at, *length)).map(|(_, _, call)| call)
    }

    /// A suggestion for each exit code that no probe ends with.
    fn failures(&self, text: &mut String) {
        let missing = self.missing();
        if missing.is_empty() {
            return;
        }
        section(
            text,
            &[
                "Failures: each exit code of the target needs a probe that ends with it.",
                "Invalid usage needs none: it is tried with an unknown flag.",
            ],
        );
        for code in missing {
            let named = self.exit_codes.get(&code).map(|about| plain(about));
            let (about, name, args) = self.failure(code);
            let about =
                named.filter(|named| !named.is_empty()).map_or(about, |named| format!("{code}: {named}"));
            block(text, &about, &name, &array(&args), code);
            if code == 77 {
                let remedy = string(&format!("{} login", plain(self.name)));
                line(text, &format!("#remedy = [{remedy}]    # the message has to name one of these"));
            }
        }
    }

    /// A call of something that does not exist.
    fn failing_call(&self) -> Option<Vec<String>> {
        let one_value = |call: &&Call| call.reads() && call.open().len() == 1;
        self.commands.calls.iter().find(one_value).map(|call| call.args(&missing))
    }

    /// What a code means, and a name and arguments for a probe that ends with it.
    fn failure(&self, code: i32) -> (String, String, Vec<String>) {
        // A call that this target does not have would show another failure.
        let open = || vec!["<arguments>".to_owned()];
        let (about, name, args) = match code {
            1 => {
                let args = self.failing_call().unwrap_or_else(open);
                ("1, general error: ask for something that does not exist", "not-found", args)
            }
            77 => ("77, authentication or permission: no login, an invalid key", "signed-out", open()),
            78 => ("78, configuration: an invalid configuration file", "bad-config", open()),
            code => return (format!("{code}"), format!("exit-{code}"), open()),
        };
        (about.to_owned(), name.to_owned(), args)
    }
}

/// What stands for a value that only its user knows.
fn placeholder(operand: &Operand) -> String {
    format!("<{}>", operand.name)
}

/// What stands for a value that leads to a failure.
fn missing(operand: &Operand) -> String {
    format!("<{} that does not exist>", operand.name)
}

/// The arguments of a confirmed probe, with the place of the format where the pages tell it.
fn placed(args: &[String], call: Option<&Call>) -> Vec<String> {
    let place = call.and_then(|call| {
        let at = call.format_place?;
        let begins = call.words.iter().zip(args).all(|(word, arg)| word == arg);
        (begins && at < args.len()).then_some(at)
    });
    let mut args = args.to_vec();
    if let Some(at) = place.filter(|_| !args.iter().any(|arg| arg == FORMAT_PLACE)) {
        args.insert(at, FORMAT_PLACE.to_owned());
    }
    args
}

/// A probe, commented out; `args` is TOML.
fn block(text: &mut String, about: &str, name: &str, args: &str, exit: i32) {
    text.push('\n');
    if !about.is_empty() {
        line(text, &format!("# {about}"));
    }
    line(text, "#[[probe]]");
    line(text, &format!("#name = {}", string(name)));
    line(text, &format!("#args = {args}"));
    if exit != 0 {
        line(text, &format!("#exit = {exit}"));
    }
}
