//! Guesses from its name and description whether a command changes anything.

use super::commands::LeafCommand;

/// The probable effect of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The command only reads.
    Reads,
    /// The command may change something.
    Changes,
    /// The name and the description do not show the effect.
    Unknown,
}

/// Names and verbs of commands that only read.
const READS: [&str; 37] = [
    "check",
    "compare",
    "count",
    "describe",
    "diff",
    "display",
    "doctor",
    "env",
    "explain",
    "find",
    "get",
    "info",
    "inspect",
    "list",
    "log",
    "logs",
    "look",
    "ls",
    "outdated",
    "print",
    "ps",
    "query",
    "read",
    "report",
    "return",
    "schema",
    "search",
    "show",
    "stats",
    "status",
    "summarize",
    "tree",
    "validate",
    "verify",
    "version",
    "view",
    "whoami",
];

/// Names and verbs of commands that change something.
const CHANGES: [&str; 88] = [
    "add",
    "apply",
    "archive",
    "attach",
    "bump",
    "cancel",
    "change",
    "clean",
    "clear",
    "clone",
    "close",
    "commit",
    "configure",
    "convert",
    "copy",
    "cordon",
    "create",
    "delete",
    "deploy",
    "destroy",
    "disable",
    "download",
    "drain",
    "drop",
    "edit",
    "enable",
    "exec",
    "execute",
    "fix",
    "import",
    "init",
    "initialize",
    "install",
    "kill",
    "link",
    "load",
    "lock",
    "login",
    "logout",
    "manage",
    "merge",
    "migrate",
    "modify",
    "move",
    "new",
    "patch",
    "pause",
    "prune",
    "publish",
    "pull",
    "purge",
    "push",
    "put",
    "rebase",
    "register",
    "release",
    "reload",
    "remove",
    "rename",
    "replace",
    "reset",
    "restart",
    "restore",
    "resume",
    "revert",
    "rm",
    "rollback",
    "rotate",
    "run",
    "save",
    "scale",
    "send",
    "set",
    "start",
    "stop",
    "submit",
    "switch",
    "sign",
    "sync",
    "taint",
    "trigger",
    "undo",
    "uninstall",
    "unlock",
    "update",
    "upgrade",
    "upload",
    "wipe",
];

/// Words in the descriptions of commands that run until they are stopped.
const ENDLESS: [&str; 6] = ["continuously", "follow", "live", "real time", "real-time", "stream"];

impl LeafCommand {
    /// Returns the probable effect of the command. It is unknown if the description contains a further verb of change
    /// (`List, create, or delete branches`) or mentions a stream.
    pub fn effect(&self) -> Effect {
        let name = self.words.last().map_or("", String::as_str);
        let name_is_any = |words: &[&str]| {
            words.iter().any(|word| {
                name.strip_prefix(*word).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            })
        };
        let about = self.about.to_lowercase();
        let mut verbs = verbs(&about);
        let first = verbs.next().unwrap_or_default();
        let starts_with_any = |words: &[&str]| words.iter().any(|word| is_form(first, word));
        if name_is_any(&CHANGES) || starts_with_any(&CHANGES) {
            return Effect::Changes;
        }
        if verbs.any(|verb| CHANGES.contains(&verb)) || ENDLESS.iter().any(|word| about.contains(word)) {
            return Effect::Unknown;
        }
        if name_is_any(&READS) || starts_with_any(&READS) { Effect::Reads } else { Effect::Unknown }
    }

    /// Returns whether the command probably changes nothing.
    pub fn only_reads(&self) -> bool {
        self.effect() == Effect::Reads
    }
}

/// Returns the words of a description that can be verbs: the first word, and each word after punctuation, `and` or
/// `or`.
fn verbs(about: &str) -> impl Iterator<Item = &str> {
    let mut follows = true;
    let words = about.split_whitespace().skip_while(|word| word.starts_with(['[', '(']));
    words.filter_map(move |word| {
        let joins = matches!(word, "and" | "or" | "then" | "&");
        let verb = (follows && !joins).then(|| word.trim_matches(|char: char| !char.is_alphanumeric()));
        follows = joins || word.ends_with([',', ';', '/', '.']);
        verb
    })
}

/// Returns whether a word is this verb or its third person: `list` or `lists`, `fetch` or `fetches`.
fn is_form(word: &str, verb: &str) -> bool {
    word.strip_prefix(verb).is_some_and(|rest| matches!(rest, "" | "s" | "es"))
}
