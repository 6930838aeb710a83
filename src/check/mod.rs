//! Checks a target: finds it, makes the runs, judges the recording and returns the report.
//!
//! ```text
//! TargetSelector, SessionOptions ─▶ Session::run ─▶ Recording ─▶ judge ─▶ Report ─▶ exit_code
//! ```
//!
//! [`Session::check`] does all of this, on any thread; the library contains the helper that makes the runs.
//! A [`Recording`] can be written, read and judged again.

mod build;
mod cache;
#[cfg(feature = "project")]
mod code;
#[cfg(not(feature = "project"))]
#[path = "no_code.rs"]
mod code;
mod completions;
mod confinement;
mod contracts;
#[cfg(feature = "cli")]
mod diff_inputs;
mod explore;
mod fleet;
mod help_pages;
mod inspect;
mod interface;
mod judging;
mod locate;
mod lock;
mod manual_page;
mod phases;
mod previous_results;
mod program_contract;
mod progress;
mod record;
mod run_environment;
mod run_session;
mod runs;
mod selection;
mod session;
#[cfg(feature = "project")]
mod watch;

#[cfg(feature = "cli")]
pub use cache::{cache_folder, create_cache_folder};
pub use diff_inputs::{ComparedSample, Comparison, DiffInput, diff};
pub use explore::ExploreOptions;
pub use fleet::{Fleet, FleetTarget, Partition};
pub use inspect::InspectedTarget;
pub use interface::InterfaceReading;
pub use judging::{Judged, deciding_runs, judge, judge_against_baseline};
pub use locate::load_config;
pub use lock::{LockMode, Locked, lock, lock_checks};
pub use previous_results::PreviousResults;
pub use progress::{Observer, Progress, replay, run_event};
pub use selection::{Selection, skip_note};
pub use session::{ConfigSource, Session, SessionOptions, SessionOutput};
#[cfg(feature = "project")]
pub use watch::{FileSnapshot, WatchedFiles, first_change};

pub use crate::report::Report;
pub use agentnative_core::probe::Recording;
pub use agentnative_core::run::Observation;
pub use agentnative_core::targets::TargetSelector;
pub use agentnative_judge::Scans;
pub use agentnative_judge::{Baseline, CheckCoverage};
