//! Tripwires: programs first on PATH that replace browsers, editors and pagers, and log their calls.

use serde::{Deserialize, Serialize};

/// What the programs that tripwires replace are used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TripwirePurpose {
    /// Opens a page in a browser, such as `xdg-open`.
    Browser,
    /// Lets a user edit a file, such as `vim`.
    Editor,
    /// Shows text page by page, such as `less`.
    Pager,
}

/// A call of a tripwire: the target called a browser, an editor or a pager.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TripwireCall {
    /// Name of the program that the target called, such as `xdg-open`.
    pub program: String,
    /// Arguments of the call, with invalid UTF-8 replaced.
    pub args: Vec<String>,
}

const BROWSERS: [&str; 12] = [
    "xdg-open",
    "sensible-browser",
    "x-www-browser",
    "www-browser",
    "gnome-open",
    "gio",
    "kde-open",
    "wslview",
    "open",
    "firefox",
    "chromium",
    "google-chrome",
];
const EDITORS: [&str; 6] = ["vi", "vim", "nvim", "nano", "emacs", "editor"];
const PAGERS: [&str; 4] = ["less", "more", "most", "pager"];

impl TripwirePurpose {
    /// All purposes.
    pub const ALL: [Self; 3] = [Self::Browser, Self::Editor, Self::Pager];

    /// Returns the names of the programs with this purpose, such as `less` for a pager.
    pub fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Browser => &BROWSERS,
            Self::Editor => &EDITORS,
            Self::Pager => &PAGERS,
        }
    }
}

impl TripwireCall {
    /// Returns the purpose of the called program. `None` if the program has other uses as well and was called for one
    /// of them, such as `gio list`.
    pub fn purpose(&self) -> Option<TripwirePurpose> {
        let stands_for = |purpose: &TripwirePurpose| purpose.programs().contains(&self.program.as_str());
        let purpose = TripwirePurpose::ALL.into_iter().find(stands_for)?;
        // `gio` has many uses.
        let opens = self.program != "gio" || self.args.first().is_some_and(|arg| arg == "open");
        opens.then_some(purpose)
    }
}
