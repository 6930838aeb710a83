//! Environment variables that a variant (the condition of a run, such as `hostile-env`) adds.

/// Environment variables as pairs of name and value.
pub type Variables = &'static [(&'static str, &'static str)];

/// One environment of a variant: its name in reports, and the groups of variables that it adds. The name of a default
/// environment is empty.
pub type Environment = (&'static str, &'static [Variables]);

/// The environments of the variant `hostile-env`, which make tools print more.
/// [`Job::environment`](crate::Job::environment) is an index into this list.
pub const HOSTILE_ENVIRONMENTS: &[Environment] = &[
    ("colour", &[COLOUR]),
    ("debug", &[DEBUG]),
    ("locale", &[LOCALE]),
    ("agents and CI", &[AGENTS_AND_CI]),
    ("20 columns", &[NARROW]),
    ("ASCII", &[ASCII]),
    ("Turkish", &[TURKISH]),
];

/// Index of the environment with a German locale in [`HOSTILE_ENVIRONMENTS`].
pub const GERMAN_LOCALE: u8 = 2;
/// Index of the environment of a narrow terminal.
pub const NARROW_TERMINAL: u8 = 4;
/// Index of the environment with a locale whose encoding is ASCII.
pub const ASCII_LOCALE: u8 = 5;
/// Index of the environment with a Turkish locale.
pub const TURKISH_LOCALE: u8 = 6;

pub(crate) const COLOUR: Variables =
    &[("FORCE_COLOR", "1"), ("CLICOLOR_FORCE", "1"), ("TERM", "xterm-256color"), ("COLORTERM", "truecolor")];
pub(crate) const DEBUG: Variables =
    &[("DEBUG", "*"), ("VERBOSE", "1"), ("RUST_LOG", "trace"), ("LOG_LEVEL", "debug")];
/// A locale in which numbers have a decimal comma.
pub(crate) const LOCALE_NAME: &str = "de_DE.UTF-8";
pub(crate) const LOCALE: Variables = &[("LANG", LOCALE_NAME), ("LC_ALL", LOCALE_NAME), ("LANGUAGE", "de")];
/// The width of a narrow terminal, as a shell exports it.
pub(crate) const NARROW: Variables = &[("COLUMNS", "20")];
/// A locale whose encoding is ASCII. Python replaces it by UTF-8 unless both of its variables are 0.
pub(crate) const ASCII: Variables =
    &[("LANG", "C"), ("LC_ALL", "C"), ("PYTHONCOERCECLOCALE", "0"), ("PYTHONUTF8", "0")];
/// A locale in which the upper case of `i` is not `I`.
pub(crate) const TURKISH: Variables = &[("LANG", "tr_TR.UTF-8"), ("LC_ALL", "tr_TR.UTF-8")];
pub(crate) const AGENTS_AND_CI: Variables = &[
    ("CI", "true"),
    ("GITHUB_ACTIONS", "true"),
    ("GITLAB_CI", "true"),
    ("BUILD_NUMBER", "1"),
    ("AI_AGENT", "1"),
    ("CLAUDECODE", "1"),
    ("CLAUDE_CODE_ENTRYPOINT", "cli"),
    ("CODEX_SANDBOX", "seatbelt"),
    ("CURSOR_AGENT", "1"),
    ("GEMINI_CLI", "1"),
    ("OPENCODE", "1"),
];
