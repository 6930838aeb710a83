//! Checking a target, from what was named to the report: what the program does, as a library.
//!
//! ```text
//! TargetSelector, SessionOptions ─▶ Session::run ─▶ Recording ─▶ judge ─▶ Report ─▶ exit_code
//! ```
//!
//! [`Session::check`] does all of it. A [`Recording`] can be written, read and judged again.

mod code;
mod contracts;
mod diff_inputs;
mod judging;
mod locate;
mod lock;
mod progress;
mod selection;
mod session;

pub use contracts::LoadedContracts;
pub use diff_inputs::{DiffInput, diff};
pub use judging::{Judged, judge};
pub use locate::load_config;
pub use lock::{LockMode, Locked, learn, lock, promise_checks};
pub use progress::{Observer, Progress, replay};
pub use selection::Selection;
pub use session::{Session, SessionOptions, SessionOutput};

pub use crate::probe::Recording;
pub use crate::report::Report;
pub use crate::target::TargetSelector;
