//! Selects checks of the catalogue by principle, layer, ID and edition.

use agentnative_contract::error::{Error, Result};
use agentnative_core::catalogue::{self, Check};
use agentnative_core::config::CheckConfig;
use agentnative_core::model::{CheckId, Edition, Layer, matches_pattern, nearest_pattern};
use std::collections::BTreeSet;

/// A selection of checks; the default is all of them.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Only checks of these principles; empty for all.
    pub principles: Vec<u8>,
    /// Only checks of these layers; empty for all.
    pub layers: Vec<Layer>,
    /// IDs of checks, or of requirements of the standard, which select the checks that decide them. Empty for all
    /// checks. `*` matches any part of an ID.
    pub checks: Vec<String>,
    /// IDs of the checks to leave out; `*` matches any part of an ID.
    pub skip: Vec<String>,
    /// Only the checks of this edition of the standard; `None` for the edition in the configuration, else the newest.
    pub edition: Option<Edition>,
}

impl Selection {
    /// Returns whether the selected layers exclude behavioral checks, so that no program is executed.
    pub fn runs_nothing(&self) -> bool {
        !self.layers.is_empty() && !self.layers.contains(&Layer::Behavioral)
    }

    /// Returns the selected checks, in the order of the catalogue.
    ///
    /// # Errors
    /// A usage error if an ID or pattern matches no check, or nothing is selected.
    pub fn resolve(&self) -> Result<Vec<&'static Check>> {
        self.resolve_in(self.edition.unwrap_or_default())
    }

    fn resolve_in(&self, edition: Edition) -> Result<Vec<&'static Check>> {
        self.checks.iter().chain(&self.skip).try_for_each(|pattern| check_pattern(pattern))?;
        let known: BTreeSet<u8> = catalogue::checks().iter().map(|check| check.principle).collect();
        if let Some(unknown) = self.principles.iter().find(|principle| !known.contains(principle)) {
            let known = Vec::from_iter(known.iter().map(u8::to_string)).join(", ");
            let error = Error::usage(format!("no checks for principle {unknown}; expected {known}"));
            return Err(error.hint("list all checks with `agentnative list`"));
        }
        let selected: Vec<_> = catalogue::checks()
            .iter()
            .filter(|check| self.principles.is_empty() || self.principles.contains(&check.principle))
            .filter(|check| self.layers.is_empty() || self.layers.contains(&check.layer))
            .filter(|check| self.checks.is_empty() || any_matches(&self.checks, check))
            .filter(|check| !any_matches(&self.skip, check))
            .filter(|check| check.is_in(edition))
            .collect();
        if selected.is_empty() {
            let error = Error::usage("these options select no check");
            return Err(error.hint("list all checks with `agentnative list`"));
        }
        Ok(selected)
    }

    /// Returns the checks to make, and the checks that the configuration skips. The configuration cannot skip a check
    /// that the user selected by its ID.
    ///
    /// # Errors
    /// The errors of [`Self::resolve`].
    pub fn resolve_with(&self, config: &CheckConfig) -> Result<(Vec<&'static Check>, Vec<&'static Check>)> {
        let skips = |check: &&Check| any_matches(&config.skip, check) && !any_matches(&self.checks, check);
        let edition = self.edition.unwrap_or(config.edition);
        let (skipped, remaining): (Vec<_>, Vec<_>) = self.resolve_in(edition)?.into_iter().partition(skips);
        if remaining.is_empty() {
            let error = Error::usage("the configuration skips all selected checks");
            return Err(error.hint("see `skip` under [check] in agentnative.toml"));
        }
        Ok((remaining, skipped))
    }
}

/// Returns a note that lists the checks that the configuration skips; `None` if there are none.
pub fn skip_note(skipped: &[&Check]) -> Option<String> {
    let ids: Vec<&str> = skipped.iter().map(|check| check.id.as_str()).collect();
    (!ids.is_empty()).then(|| format!("the configuration skips {} (`skip` under [check])", ids.join(", ")))
}

/// Returns whether an ID or pattern matches the check, or a requirement that it decides.
fn any_matches<T: AsRef<str>>(patterns: &[T], check: &Check) -> bool {
    let ids = || check.standard.iter().map(String::as_str).chain([check.id.as_str()]);
    patterns.iter().any(|pattern| ids().any(|id| matches_pattern(pattern.as_ref(), id)))
}

/// Returns an error unless the ID or pattern matches a check.
fn check_pattern(pattern: &str) -> Result<()> {
    if let Some(requirement) = catalogue::requirements().iter().find(|requirement| requirement.id == pattern)
    {
        return match &requirement.without {
            None => Ok(()),
            Some(why) => Err(Error::usage(format!("no check decides {pattern}: {why}"))
                .hint("`agentnative list --standard` shows the checks of each requirement")),
        };
    }
    let ids = || CheckId::ALL.iter().map(|id| id.as_str());
    if !pattern.contains('*') {
        return pattern.parse::<CheckId>().map(drop);
    }
    if catalogue::checks().iter().any(|check| any_matches(std::slice::from_ref(&pattern), check)) {
        return Ok(());
    }
    let hint = match nearest_pattern(pattern, ids()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "list all checks with `agentnative list`".to_owned(),
    };
    Err(Error::usage(format!("no check matches `{pattern}`")).hint(hint))
}
