//! Known faults of a program, as a contract names them.

use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// A contradiction in the origin of a contract, or between the origin and the program, and what the contract requires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ContractFinding")]
pub struct Finding {
    /// ID, to which rules and conditions refer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Description.
    pub what: String,
    /// Where it is published, such as the number of an issue.
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
