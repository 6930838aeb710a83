//! Known faults of a program, as a contract names them.

use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// A contradiction in the source of a contract, or between this source and the program, and what the contract requires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ContractFinding")]
pub struct Finding {
    /// ID of the finding, which rules and conditions name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Description of the contradiction, and what the contract requires.
    pub what: String,
    /// Where the contradiction is published, such as the number of an issue.
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
