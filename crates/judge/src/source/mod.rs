//! Finds and reads the code of a target, and matches the rules of the source checks.
//!
//! With the feature `source`, `scan` reads [`CodeFacts`](agentnative_core::facts::CodeFacts) of the code, which
//! `source_checks` judges. With the feature `project`, the files around the code are read.

#[cfg(feature = "source")]
mod built;
#[cfg(feature = "project")]
mod exclusions;
#[cfg(feature = "source")]
mod file;
#[cfg(feature = "project")]
mod file_list;
#[cfg(feature = "source")]
mod imports;
#[cfg(feature = "source")]
mod language;
#[cfg(feature = "source")]
mod package;
#[cfg(feature = "project")]
mod project;
#[cfg(feature = "source")]
mod rules;
#[cfg(feature = "source")]
mod scan;
#[cfg(feature = "source")]
mod tree;
#[cfg(feature = "source")]
mod unread;
#[cfg(feature = "source")]
mod walk;

#[cfg(feature = "source")]
pub use built::build_times;
#[cfg(feature = "project")]
pub use exclusions::name_in;
#[cfg(feature = "project")]
pub use file_list::{is_code, project_files};
#[cfg(feature = "project")]
pub use project::read_project;
#[cfg(feature = "source")]
pub use rules::Rules;
#[cfg(feature = "source")]
pub use scan::{BUDGET, scan, scan_within};
