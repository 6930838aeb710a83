//! The sides of a comparison with a sample.

use schemars::JsonSchema;
use serde::Serialize;

/// The side of a comparison that is a sample; the other side is a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SampleSide {
    /// Output of an old version, which the new schema may reject.
    Old,
    /// Output of the new version, which may contain more than the old schema allows.
    New,
}
