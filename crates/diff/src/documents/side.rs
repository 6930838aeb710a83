//! The sides of a comparison with a sample.

use schemars::JsonSchema;
use serde::Serialize;

/// Which side of a comparison a sample is; the other one is a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SampleSide {
    /// Output of the past, which the new schema may reject.
    Old,
    /// Output of the present, which may contain more than the old schema allows.
    New,
}
