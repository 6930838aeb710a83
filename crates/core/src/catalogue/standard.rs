//! The requirements of the agent-native CLI standard, with the checks that decide them.

use super::{Check, checks};
use crate::model::{Edition, Level};
use serde::Deserialize;
use std::sync::LazyLock;

/// A requirement of the standard.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// ID, such as `p5-must-dry-run`: principle, level and name.
    pub id: String,
    /// Short text of the requirement.
    pub says: String,
    /// Edition that added the requirement.
    #[serde(default = "oldest")]
    pub since: Edition,
    /// Reason why no check decides the requirement; `None` if a check does.
    #[serde(default)]
    pub without: Option<String>,
}

const fn oldest() -> Edition {
    Edition::OLDEST
}

impl Requirement {
    /// Returns whether an edition of the standard has this requirement.
    pub fn is_in(&self, edition: Edition) -> bool {
        self.since <= edition
    }

    /// Returns the number of the requirement's principle, such as 5 for `p5-must-dry-run`.
    pub fn principle(&self) -> u8 {
        self.id.as_bytes().get(1).map_or(0, |digit| digit.wrapping_sub(b'0'))
    }

    /// Returns the level that the requirement's ID contains, such as MUST for `p5-must-dry-run`. A check that decides
    /// the requirement may have another level.
    pub fn level(&self) -> Level {
        match self.id.split('-').nth(1) {
            Some("must") => Level::Must,
            Some("should") => Level::Should,
            _ => Level::May,
        }
    }

    /// Returns the checks that decide the requirement or a part of it.
    pub fn checks(&self) -> impl Iterator<Item = &'static Check> {
        checks().iter().filter(|check| check.standard.contains(&self.id))
    }
}

/// The contents of `standard.toml`: titles of the principles, and all requirements.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Standard {
    principles: Vec<String>,
    requirement: Vec<Requirement>,
}

static STANDARD: LazyLock<Standard> = LazyLock::new(|| {
    let read = toml::from_str::<Standard>(include_str!("standard.toml"));
    read.unwrap_or_else(|error| panic!("the embedded standard.toml is invalid: {error}"))
});

/// Returns all requirements, ordered by principle.
pub fn requirements() -> &'static [Requirement] {
    &STANDARD.requirement
}

/// Returns the title of a principle, by its number from 1; empty if there is no such principle.
pub fn principle_title(principle: u8) -> &'static str {
    let at = usize::from(principle).checked_sub(1);
    at.and_then(|at| STANDARD.principles.get(at)).map_or("", String::as_str)
}
