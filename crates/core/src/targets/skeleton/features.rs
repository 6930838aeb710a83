//! What a target has beside its output, as suggestions: common options, lists, completions.

use super::Skeleton;
use super::toml_lines::{line, string};
use crate::targets::commands::Call;
use crate::targets::effect::Effect;

/// Options that disable prompts, as tools spell them.
const NO_INPUT: [&str; 4] = ["--no-input", "--non-interactive", "--no-interactive", "--no-prompt"];
/// The last word of commands that destroy something.
const DESTROYS: [&str; 8] = ["delete", "destroy", "drop", "prune", "purge", "remove", "reset", "rm"];
/// The first word of commands that print lists.
const LISTS: [&str; 3] = ["list", "ls", "search"];

impl Skeleton<'_> {
    /// The lines of `[target]`.
    pub(super) fn features(&self, text: &mut String) {
        line(
            text,
            "#flags.quiet = [\"--quiet\"]    # prints data and errors only; false if it has no such option",
        );
        let has_option = |name: &str| self.commands.help.has_option(name);
        let listed = NO_INPUT.into_iter().find(|name| has_option(name));
        let no_input = string(listed.unwrap_or(NO_INPUT[0]));
        line(text, &format!("#flags.no_input = [{no_input}]    # disables prompts"));
        let changes = |call: &Call| call.effect() == Effect::Changes;
        if self.commands.calls.iter().any(changes) {
            line(
                text,
                "#flags.dry_run = [\"--dry-run\"]    # shows what a call would change; false if it has no such option",
            );
            line(text, "#flags.confirm = [\"--yes\"]    # confirms a call that destroys something");
        }
        if has_option("--timeout") {
            line(
                text,
                "#flags.timeout = [\"--timeout\", \"{seconds}\"]    # for a probe with {stalled}, an address that never answers",
            );
        }
        let signs_in = |call: &Call| call.words.iter().any(|word| word == "login" || word == "auth");
        if self.commands.calls.iter().any(signs_in) {
            let variable = self.name.to_uppercase().replace(|char: char| !char.is_ascii_alphanumeric(), "_");
            let variable = string(&format!("{variable}_TOKEN"));
            line(
                text,
                &format!(
                    "#secret = {{ env = {variable} }}    # the variable of its token; also `file` and `stdin`"
                ),
            );
        }
        if !self.commands.calls.iter().any(is_list) {
            line(text, "#lacks = [\"lists\"]    # no command prints a list that grows with the data");
        }
        line(
            text,
            "#completions = [\"completions\", \"{shell}\"]    # prints a completion script; false if it has none",
        );
        let is_skill =
            |call: &Call| call.words.first().is_some_and(|word| word == "skill" || word == "skills");
        if self.commands.calls.iter().any(is_skill) {
            line(
                text,
                "#bundle_install = [\"skill\", \"install\"]    # installs its SKILL.md in the home folder; false if nothing does",
            );
        }
        let file = string(&format!(".config/{}/config.toml", self.name.replace('/', "-")));
        line(text, &format!("#config_file = {file}    # its configuration, in the home folder"));
    }

    /// What a suggested probe of a call has beside its arguments.
    pub(super) fn of_call(&self, text: &mut String, call: &Call) {
        if call.effect() == Effect::Changes {
            line(
                text,
                "#workspace = true    # runs in an empty folder; the path of a folder: in a copy of it",
            );
            let destroys = call.words.last().is_some_and(|word| DESTROYS.contains(&word.as_str()));
            line(
                text,
                match destroys {
                    true => {
                        "#destructive = true    # it needs a confirmation (flags.confirm), which `args` does not contain"
                    }
                    false => "#changes = true    # runs only for the checks that concern changes",
                },
            );
        }
        if is_list(call) {
            line(
                text,
                "#list = { items = \"/data/items\", max = 100 }    # where its items are; its documented maximum",
            );
        }
    }
}

fn is_list(call: &Call) -> bool {
    call.words.last().is_some_and(|word| LISTS.contains(&word.as_str())) && call.effect() == Effect::Reads
}
