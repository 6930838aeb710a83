//! What is still to be done after `agentnative init`, a sentence for each step.

use super::Skeleton;
use crate::config::FORMAT_PLACE;
use crate::targets::{Call, Effect};
use agentnative_contract::listed;

/// So many commands are named; the others are counted.
const NAMED: usize = 8;
/// So many calls that need values are written out.
const WRITTEN: usize = 3;

impl Skeleton<'_> {
    /// What is still to be done, in the order of its use. `target` is how the target was named on the command
    /// line, in the words of a shell.
    pub fn next(&self, target: &str) -> Vec<String> {
        let mut next = Vec::new();
        if self.probes.is_empty() {
            next.extend(self.declare(target));
        }
        let codes: Vec<String> = self.missing().iter().map(i32::to_string).collect();
        if !codes.is_empty() {
            let such = match self.failing_call() {
                Some(args) if codes[0] == "1" => {
                    let words: Vec<String> = args.into_iter().filter(|word| word != FORMAT_PLACE).collect();
                    format!(", such as `--probe \"1:{}\"`", words.join(" "))
                }
                _ => String::new(),
            };
            next.push(format!(
                "add a probe that fails with {} {}{such}, or remove the code from `exit_codes`",
                if codes.len() == 1 { "exit code" } else { "each of the exit codes" },
                listed(codes, "and")
            ));
        }
        next.push("run `agentnative check`".to_owned());
        next
    }

    /// How probes are declared: a command line with all that seems to only read, and what is left out of it.
    fn declare(&self, target: &str) -> Vec<String> {
        let calls = &self.commands.calls;
        let of = |effect: Effect| -> Vec<&Call> {
            calls.iter().filter(|call| call.effect() == effect && !call.words.is_empty()).collect()
        };
        let (open, safe): (Vec<&Call>, Vec<&Call>) =
            of(Effect::Reads).into_iter().partition(|call| !call.open().is_empty());
        let mut words = String::from("agentnative init --force");
        if !safe.is_empty() {
            let names: Vec<String> = safe.iter().take(NAMED).map(|call| call.name()).collect();
            let names = names.join(",");
            let quote = if names.contains(' ') { "\"" } else { "" };
            words.push_str(&format!(" --safe {quote}{names}{quote}"));
        }
        let mut values = Vec::new();
        for call in open.iter().take(WRITTEN) {
            words.push_str(&format!(" --probe \"{}\"", call.needed()));
            for operand in call.open() {
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
        let more = safe.len().saturating_sub(NAMED) + open.len().saturating_sub(WRITTEN);
        let what = if values.len() == 1 { "a value that exists" } else { "values that exist" };
        let replace = (!values.is_empty()).then(|| format!("replace {} with {what}", listed(values, "and")));
        let more = (more > 0).then(|| format!("{more} more seem to only read"));
        let notes: Vec<String> = [replace, more].into_iter().flatten().collect();
        if !notes.is_empty() {
            declare.push_str(&format!("\n{}", notes.join("; ")));
        }
        let mut steps = vec![declare];
        let named = |calls: Vec<&Call>| {
            let mut names: Vec<String> =
                calls.iter().take(NAMED).map(|call| format!("`{}`", call.name())).collect();
            let more = calls.len() - names.len();
            names.extend((more > 0).then(|| format!("{more} more")));
            listed(names, "and")
        };
        let unknown = of(Effect::Unknown);
        if !unknown.is_empty() {
            steps.push(format!("add those of these that only read: {}", named(unknown)));
        }
        let changes = of(Effect::Changes);
        if !changes.is_empty() {
            steps.push(format!("leave out what may change something, or declare it with `workspace` and `changes = true`: {}", named(changes)));
        }
        steps
    }
}
