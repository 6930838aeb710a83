//! Configuration of the output: format, colour and width.

use agentnative_contract::OutputFormat;
use std::ffi::OsStr;
use std::io::IsTerminal;
use std::os::fd::AsFd;

/// Line width of text output, in columns, if stdout is not a terminal.
pub const DEFAULT_WIDTH: usize = 100;
/// Minimum line width of text output, in columns, even if the terminal is narrower.
const MIN_WIDTH: usize = 40;

/// Value of the option `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ColorChoice {
    /// Colour on a terminal, unless the environment decides otherwise.
    #[default]
    Auto,
    /// Always colour.
    Always,
    /// Never colour.
    Never,
}

/// Values of the environment variables that control colour.
#[derive(Debug, Clone, Copy, Default)]
pub struct ColorEnv<'a> {
    /// `NO_COLOR`: no colour if it is not empty.
    pub no_color: Option<&'a OsStr>,
    /// `FORCE_COLOR`: no colour for `0` and `false`, colour for any other value that is not empty.
    pub force_color: Option<&'a OsStr>,
    /// `CLICOLOR_FORCE`: colour if it is neither empty nor `0`.
    pub clicolor_force: Option<&'a OsStr>,
    /// `CLICOLOR`: with the value `0`, no colour even on a terminal.
    pub clicolor: Option<&'a OsStr>,
    /// `TERM`: with the value `dumb`, no colour even on a terminal.
    pub term: Option<&'a OsStr>,
}

/// Returns whether to colour a stream; `terminal` is true if the stream is a terminal. The first of these that is set
/// decides: `flag`, `NO_COLOR`, `FORCE_COLOR`, `CLICOLOR_FORCE`. Otherwise the stream is coloured if it is a terminal,
/// unless `CLICOLOR=0` or `TERM=dumb` is set.
pub fn use_color(flag: ColorChoice, env: ColorEnv<'_>, terminal: bool) -> bool {
    let set = |value: Option<&OsStr>| value.is_some_and(|value| !value.is_empty());
    let is = |value: Option<&OsStr>, word: &str| value == Some(OsStr::new(word));
    match flag {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if set(env.no_color) => false,
        ColorChoice::Auto if set(env.force_color) => {
            !is(env.force_color, "0") && !is(env.force_color, "false")
        }
        ColorChoice::Auto if set(env.clicolor_force) && !is(env.clicolor_force, "0") => true,
        ColorChoice::Auto => terminal && !is(env.clicolor, "0") && !is(env.term, "dumb"),
    }
}

/// How a program prints: format, colour, line width, and whether diagnostics and progress are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputConfig {
    /// Output format.
    pub format: OutputFormat,
    /// Colour on stdout; false for the JSON formats.
    pub color_stdout: bool,
    /// Colour on stderr; false for the JSON formats.
    pub color_stderr: bool,
    /// If true, text output contains only problems and the summary, and diagnostics are omitted.
    pub quiet: bool,
    /// If true, a progress line is shown on stderr.
    pub progress: bool,
    /// Line width of text output, in columns.
    pub width: usize,
}

impl OutputConfig {
    /// Returns a configuration that does not depend on the environment: no colour, no progress line, the default width.
    pub const fn plain(format: OutputFormat) -> Self {
        Self {
            format,
            color_stdout: false,
            color_stderr: false,
            quiet: false,
            progress: false,
            width: DEFAULT_WIDTH,
        }
    }

    /// Returns the configuration for the given options. Colour, progress and width also depend on the environment
    /// variables of this process, and on whether stdout and stderr are terminals.
    #[expect(clippy::disallowed_methods, reason = "inspects the streams; writes nothing")]
    pub fn from_environment(format: OutputFormat, color: ColorChoice, quiet: bool) -> Self {
        let var = |name| std::env::var_os(name);
        let names = ["NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "TERM"];
        let values = names.map(var);
        let [no_color, force_color, clicolor_force, clicolor, term] = values.each_ref().map(Option::as_deref);
        let env = ColorEnv { no_color, force_color, clicolor_force, clicolor, term };
        let (out, err) = (std::io::stdout(), std::io::stderr());
        let text = format == OutputFormat::Text;
        Self {
            format,
            color_stdout: text && use_color(color, env, out.is_terminal()),
            color_stderr: text && use_color(color, env, err.is_terminal()),
            quiet,
            progress: text && err.is_terminal() && env.term != Some(OsStr::new("dumb")),
            width: page_width().unwrap_or(DEFAULT_WIDTH),
        }
    }
}

/// Returns the current width of the terminal on stdout, in columns, but at least 40. `None` if stdout is not a terminal
/// or its width is unknown.
#[expect(clippy::disallowed_methods, reason = "inspects the stream; writes nothing")]
pub(super) fn page_width() -> Option<usize> {
    terminal_columns(std::io::stdout()).map(|columns| columns.max(MIN_WIDTH))
}

/// Returns the current width of the terminal on stderr, in columns; `None` if it is unknown. There is no minimum: a
/// progress line that is wider than the terminal wraps, and cannot be cleared.
#[expect(clippy::disallowed_methods, reason = "inspects the stream; writes nothing")]
pub(super) fn progress_width() -> Option<usize> {
    terminal_columns(std::io::stderr())
}

fn terminal_columns(terminal: impl AsFd) -> Option<usize> {
    let columns = usize::from(rustix::termios::tcgetwinsize(terminal).ok()?.ws_col);
    (columns > 0).then_some(columns)
}
