//! The editions of the standard.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An edition of the agent-native CLI standard; the default is the newest.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Edition {
    /// 0.5
    #[serde(rename = "0.5")]
    #[cfg_attr(feature = "clap", value(name = "0.5"))]
    V0_5,
    /// 0.6
    #[default]
    #[serde(rename = "0.6")]
    #[cfg_attr(feature = "clap", value(name = "0.6"))]
    V0_6,
}

impl Edition {
    /// All editions with their names, the oldest first.
    pub const NAMED: [(&'static str, Self); 2] = [("0.5", Self::V0_5), ("0.6", Self::V0_6)];

    /// The oldest edition.
    pub const OLDEST: Self = Self::NAMED[0].1;

    /// Returns the name, such as `0.6`.
    pub const fn name(self) -> &'static str {
        Self::NAMED[self as usize].0
    }
}
