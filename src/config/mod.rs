//! `agentnative.toml`: where it is found, what it says, and everything that is wrong with it at once.
//!
//! Reading has two stages. The elements (`target`, `probe`, `waiver`: a file each) turn TOML values
//! with spans into settings and note every fault on its span; then the settings are held against
//! each other. A file with any fault gives one error that lists them all.

mod date;
mod types;

pub use date::Date;
pub use types::{
    Config, Contracts, FORMAT_PLACE, Formats, Known, ProbeConfig, TargetConfig, Waiver, contract_path,
    place_format,
};
