//! Variables that variants add to the environment of a run.

/// Variables with their values.
pub type Variables = &'static [(&'static str, &'static str)];

/// The variables that a variant adds to the environment, with a name for reports, which is empty for the default
/// environment.
pub type Environment = (&'static str, &'static [Variables]);

/// The environments of the variant `hostile-env`, by index ([`Job::environment`](crate::Job::environment)): variables that make tools
/// print more, with a name for reports.
pub const HOSTILE_ENVIRONMENTS: &[Environment] =
    &[("colour", &[COLOUR]), ("debug", &[DEBUG]), ("locale", &[LOCALE]), ("agents and CI", &[AGENTS_AND_CI])];

pub(crate) const COLOUR: Variables =
    &[("FORCE_COLOR", "1"), ("CLICOLOR_FORCE", "1"), ("TERM", "xterm-256color"), ("COLORTERM", "truecolor")];
pub(crate) const DEBUG: Variables =
    &[("DEBUG", "*"), ("VERBOSE", "1"), ("RUST_LOG", "trace"), ("LOG_LEVEL", "debug")];
/// A locale with a decimal comma.
pub(crate) const LOCALE_NAME: &str = "de_DE.UTF-8";
pub(crate) const LOCALE: Variables = &[("LANG", LOCALE_NAME), ("LC_ALL", LOCALE_NAME), ("LANGUAGE", "de")];
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
