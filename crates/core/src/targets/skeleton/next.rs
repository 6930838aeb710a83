//! Describes the steps that remain after `agentnative init`, one sentence each.

use super::ConfigTemplate;
use crate::config::FORMAT_PLACEHOLDER;
use crate::targets::{Effect, LeafCommand};
use agentnative_contract::join_words;

/// Maximum number of commands that a step names; the others are only counted.
const MAX_NAMES: usize = 8;
/// Maximum number of calls with required values that a step contains; the others are only counted.
const MAX_PROBES: usize = 3;

impl ConfigTemplate<'_> {
    /// Returns the remaining steps in their order. `target` is the part of a command line that selects the target, in
    /// shell syntax.
    pub fn next_steps(&self, target: &str) -> Vec<String> {
        let mut next = Vec::new();
        if self.probes.is_empty() {
            next.extend(self.declare(target));
        }
        let codes: Vec<String> = self.codes_without_probe().iter().map(i32::to_string).collect();
        if !codes.is_empty() {
            let example = match self.failing_call() {
                Some(args) if codes[0] == "1" => {
                    let words: Vec<String> =
                        args.into_iter().filter(|word| word != FORMAT_PLACEHOLDER).collect();
                    format!(", such as `--probe \"1:{}\"`", words.join(" "))
                }
                _ => String::new(),
            };
            next.push(format!(
                "add {} {}{example}, or remove the code from `exit_codes`",
                if codes.len() == 1 {
                    "a probe that exits with"
                } else {
                    "a probe for each of the exit codes"
                },
                join_words(codes, "and")
            ));
        }
        next.push("run `agentnative check`".to_owned());
        next
    }

    /// Returns the steps to declare probes. The first has a command line with the calls that seem to only read; the
    /// others are about the remaining commands.
    fn declare(&self, target: &str) -> Vec<String> {
        let calls = &self.commands.leaves;
        let with_effect = |effect: Effect| -> Vec<&LeafCommand> {
            calls.iter().filter(|call| call.effect() == effect && !call.words.is_empty()).collect()
        };
        let (open, safe): (Vec<&LeafCommand>, Vec<&LeafCommand>) =
            with_effect(Effect::Reads).into_iter().partition(|call| !call.args_without_choices().is_empty());
        let mut words = String::from("agentnative init --force");
        if !safe.is_empty() {
            let names: Vec<String> = safe.iter().take(MAX_NAMES).map(|call| call.name()).collect();
            let names = names.join(",");
            let quote = if names.contains(' ') { "\"" } else { "" };
            words.push_str(&format!(" --safe {quote}{names}{quote}"));
        }
        let mut values = Vec::new();
        for call in open.iter().take(MAX_PROBES) {
            words.push_str(&format!(" --probe \"{}\"", call.usage_required()));
            for operand in call.args_without_choices() {
                let value = format!("`<{}>`", operand.name);
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        if safe.is_empty() && open.is_empty() {
            words.push_str(match calls.iter().any(|call| call.words.is_empty()) {
                true => " --probe \"ARGS\"",
                false => " --safe NAME",
            });
        }
        let mut declare = format!(
            "declare the calls that are safe to run up to 40 times:\n  {}",
            [&words, target].join(" ").trim_end()
        );
        let more = safe.len().saturating_sub(MAX_NAMES) + open.len().saturating_sub(MAX_PROBES);
        let what = if values.len() == 1 { "a value that exists" } else { "values that exist" };
        let replace =
            (!values.is_empty()).then(|| format!("replace {} with {what}", join_words(values, "and")));
        let more = match more {
            0 => None,
            1 => Some("1 more command seems to be read-only".to_owned()),
            _ => Some(format!("{more} more commands seem to be read-only")),
        };
        let notes: Vec<String> = [replace, more].into_iter().flatten().collect();
        if !notes.is_empty() {
            declare.push_str(&format!("\n{}", notes.join("; ")));
        }
        let mut steps = vec![declare];
        let name_list = |calls: Vec<&LeafCommand>| {
            let mut names: Vec<String> =
                calls.iter().take(MAX_NAMES).map(|call| format!("`{}`", call.name())).collect();
            let more = calls.len() - names.len();
            names.extend((more > 0).then(|| format!("{more} more")));
            join_words(names, "and")
        };
        let unknown = with_effect(Effect::Unknown);
        if !unknown.is_empty() {
            steps.push(format!("add those of these commands that are read-only: {}", name_list(unknown)));
        }
        let changes = with_effect(Effect::Changes);
        if !changes.is_empty() {
            steps.push(format!("omit commands that may change something, or declare them with `workspace` and `changes = true`: {}", name_list(changes)));
        }
        steps
    }
}
