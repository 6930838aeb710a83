//! Which checks are made.

use crate::catalogue::{self, Check};
use crate::model::{CheckId, Layer};
use agentnative_contract::error::{Error, Result};
use std::collections::BTreeSet;

/// Chooses checks of the catalogue; the default is all of them.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Only checks of these principles; empty for all.
    pub principles: Vec<u8>,
    /// Only checks of these layers; empty for all.
    pub layers: Vec<Layer>,
    /// Only the checks of these IDs; empty for all.
    pub checks: Vec<String>,
    /// Not the checks of these IDs.
    pub skip: Vec<String>,
}

impl Selection {
    /// The checks that are left, in the order of the catalogue.
    ///
    /// # Errors
    /// Usage, when an ID does not exist or nothing is left.
    pub fn resolve(&self) -> Result<Vec<&'static Check>> {
        for id in self.checks.iter().chain(&self.skip) {
            id.parse::<CheckId>()?;
        }
        let known: BTreeSet<u8> = catalogue::checks().iter().map(|check| check.principle).collect();
        if let Some(unknown) = self.principles.iter().find(|principle| !known.contains(principle)) {
            let known = Vec::from_iter(known.iter().map(u8::to_string)).join(", ");
            let error = Error::usage(format!("there is no check of principle {unknown}: expected {known}"));
            return Err(error.hint("see `agentnative list`"));
        }
        let selected: Vec<_> = catalogue::checks()
            .iter()
            .filter(|check| self.principles.is_empty() || self.principles.contains(&check.principle))
            .filter(|check| self.layers.is_empty() || self.layers.contains(&check.layer))
            .filter(|check| self.checks.is_empty() || self.checks.iter().any(|id| id == check.id.as_str()))
            .filter(|check| !self.skip.iter().any(|id| id == check.id.as_str()))
            .collect();
        if selected.is_empty() {
            let error = Error::usage("no check is left to be made by these options");
            return Err(error.hint("see `agentnative list`"));
        }
        Ok(selected)
    }
}
