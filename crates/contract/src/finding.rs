//! Known faults of a program, as a contract names them.

use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// Where the origin contradicts itself or the program, and which side the contract takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ContractFinding")]
pub struct Finding {
    /// Its ID, which rules and conditions refer to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What it is, in a sentence or a few.
    pub what: String,
    /// Where it was published, such as the number of an issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reference {
            Some(reference) => write!(f, "{} ({reference})", self.what.trim_end_matches('.')),
            None => f.write_str(&self.what),
        }
    }
}
