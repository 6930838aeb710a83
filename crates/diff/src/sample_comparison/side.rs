//! Which version a sample is in a comparison with a schema: the old or the new one.

use schemars::JsonSchema;
use serde::Serialize;

/// Whether the sample is the old or the new version in a comparison of a sample with a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SampleSide {
    /// Output of an old version, which the new schema may reject.
    Old,
    /// Output of the new version, which may contain more than the old schema allows.
    New,
}
