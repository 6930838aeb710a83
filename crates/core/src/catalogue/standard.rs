//! The requirements of the agent-native CLI standard, and the checks that decide them.

use super::{Check, checks};
use crate::model::{Edition, Level};
use serde::Deserialize;
use std::sync::LazyLock;

/// A requirement of the standard.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// Its ID, such as `p5-must-dry-run`: the principle, the level, a name.
    pub id: String,
    /// What it requires, in short.
    pub says: String,
    /// The edition that added it.
    #[serde(default = "oldest")]
    pub since: Edition,
    /// Why no check decides it; none where one does.
    #[serde(default)]
    pub without: Option<String>,
}

const fn oldest() -> Edition {
    Edition::OLDEST
}

impl Requirement {
    /// Whether an edition of the standard has it.
    pub fn is_in(&self, edition: Edition) -> bool {
        self.since <= edition
    }

    /// The principle it belongs to.
    pub fn principle(&self) -> u8 {
        self.id.as_bytes().get(1).map_or(0, |digit| digit.wrapping_sub(b'0'))
    }

    /// Its level; that of a check may differ.
    pub fn level(&self) -> Level {
        match self.id.split('-').nth(1) {
            Some("must") => Level::Must,
            Some("should") => Level::Should,
            _ => Level::May,
        }
    }

    /// The checks that decide it, or a part of it.
    pub fn checks(&self) -> impl Iterator<Item = &'static Check> {
        checks().iter().filter(|check| check.standard.contains(&self.id))
    }
}

/// The file of the principles and their requirements.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Standard {
    principles: Vec<String>,
    requirement: Vec<Requirement>,
}

static STANDARD: LazyLock<Standard> = LazyLock::new(|| {
    let read = toml::from_str::<Standard>(include_str!("standard.toml"));
    read.unwrap_or_else(|error| panic!("standard.toml, which is part of the program, is wrong: {error}"))
});

/// All requirements, principle by principle.
pub fn requirements() -> &'static [Requirement] {
    &STANDARD.requirement
}

/// The title of a principle, which is counted from 1; empty for one that there is not.
pub fn principle_title(principle: u8) -> &'static str {
    let at = usize::from(principle).checked_sub(1);
    at.and_then(|at| STANDARD.principles.get(at)).map_or("", String::as_str)
}
