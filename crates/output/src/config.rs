//! How this program's own output looks, decided once at the start.

use agentnative_contract::OutputFormat;
use std::ffi::OsStr;
use std::io::IsTerminal;
use std::os::fd::AsFd;

/// Line width where standard output is no terminal.
pub const DEFAULT_WIDTH: usize = 100;
/// Narrower terminals are written to as if they had this width.
const MIN_WIDTH: usize = 40;

/// The `--color` flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ColorChoice {
    /// On a terminal, unless the environment says otherwise.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The environment variables that decide about colour.
#[derive(Debug, Clone, Copy, Default)]
pub struct ColorEnv<'a> {
    /// `NO_COLOR`: not empty means no.
    pub no_color: Option<&'a OsStr>,
    /// `FORCE_COLOR`: `0` and `false` mean no, all else that is not empty means yes.
    pub force_color: Option<&'a OsStr>,
    /// `CLICOLOR_FORCE`: neither empty nor `0` means yes.
    pub clicolor_force: Option<&'a OsStr>,
    /// `CLICOLOR`: `0` means no on a terminal.
    pub clicolor: Option<&'a OsStr>,
    /// `TERM`: `dumb` means no.
    pub term: Option<&'a OsStr>,
}

/// Whether to colour a stream: flag, else `NO_COLOR`, else `FORCE_COLOR`, else `CLICOLOR_FORCE`, else
/// `CLICOLOR=0` and `TERM=dumb`, else whether the stream is a terminal.
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

/// How output looks; threaded through everything that writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputConfig {
    /// For people or for programs.
    pub format: OutputFormat,
    /// Colour on standard output; never in a JSON mode.
    pub use_color: bool,
    /// Colour on standard error; never in a JSON mode.
    pub color_err: bool,
    /// Only problems and the summary; no diagnostics.
    pub quiet: bool,
    /// Draw progress on stderr.
    pub progress: bool,
    /// Columns to wrap text at.
    pub width: usize,
}

impl OutputConfig {
    /// No colour, no progress, default width: the same on every machine.
    pub const fn plain(format: OutputFormat) -> Self {
        Self {
            format,
            use_color: false,
            color_err: false,
            quiet: false,
            progress: false,
            width: DEFAULT_WIDTH,
        }
    }

    /// What the flags ask for, on the streams and in the environment of this process.
    #[expect(clippy::disallowed_methods, reason = "looks at the streams; writes nothing")]
    pub fn detect(format: OutputFormat, color: ColorChoice, quiet: bool) -> Self {
        let var = |name| std::env::var_os(name);
        let names = ["NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "TERM"];
        let values = names.map(var);
        let [no_color, force_color, clicolor_force, clicolor, term] = values.each_ref().map(Option::as_deref);
        let env = ColorEnv { no_color, force_color, clicolor_force, clicolor, term };
        let (out, err) = (std::io::stdout(), std::io::stderr());
        let text = format == OutputFormat::Text;
        Self {
            format,
            use_color: text && use_color(color, env, out.is_terminal()),
            color_err: text && use_color(color, env, err.is_terminal()),
            quiet,
            progress: text && err.is_terminal() && env.term != Some(OsStr::new("dumb")),
            width: page_width().unwrap_or(DEFAULT_WIDTH),
        }
    }
}

/// The columns of stdout as they are now, at least 40; none where it is no terminal, or one that does not say.
#[expect(clippy::disallowed_methods, reason = "looks at the stream; writes nothing")]
pub(super) fn page_width() -> Option<usize> {
    columns(std::io::stdout()).map(|columns| columns.max(MIN_WIDTH))
}

/// The columns of stderr as they are now, however few: a line of progress that breaks cannot be taken away.
#[expect(clippy::disallowed_methods, reason = "looks at the stream; writes nothing")]
pub(super) fn progress_width() -> Option<usize> {
    columns(std::io::stderr())
}

fn columns(terminal: impl AsFd) -> Option<usize> {
    let columns = usize::from(rustix::termios::tcgetwinsize(terminal).ok()?.ws_col);
    (columns > 0).then_some(columns)
}
