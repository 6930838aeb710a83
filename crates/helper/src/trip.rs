//! Tripwires: programs in front of PATH that stand for browsers, editors and pagers, and tell that they were called.

use serde::{Deserialize, Serialize};

/// What a program that stands on a tripwire is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// It opens a page in a browser.
    Browser,
    /// It lets a person edit a file.
    Editor,
    /// It shows text page by page.
    Pager,
}

/// A call of such a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trip {
    /// Its name.
    pub program: String,
    /// Its arguments, with what is no UTF-8 replaced.
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

impl Purpose {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Browser, Self::Editor, Self::Pager];

    /// The programs for it.
    pub fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Browser => &BROWSERS,
            Self::Editor => &EDITORS,
            Self::Pager => &PAGERS,
        }
    }
}

impl Trip {
    /// What the program is for; none where it was called for something else.
    pub fn purpose(&self) -> Option<Purpose> {
        let stands_for = |purpose: &Purpose| purpose.programs().contains(&self.program.as_str());
        let purpose = Purpose::ALL.into_iter().find(stands_for)?;
        // `gio` has many uses.
        let opens = self.program != "gio" || self.args.first().is_some_and(|arg| arg == "open");
        opens.then_some(purpose)
    }
}
