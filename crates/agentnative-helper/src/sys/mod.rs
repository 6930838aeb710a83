//! Linux's own: what the rest of this crate asks of the system, behind a few functions.
//!
//! Everything that reads /proc, or uses a pidfd, the subreaper, Landlock or a memfd, is here: the
//! children and the state of a process (`process`), its limits and what it was started with
//! (`details`), what it waits for (`wait_state`), how it is ended and reaped (`end`), how it is confined
//! (`confine`), and how the helper's own executable is started (`executable`).

#[cfg(feature = "runtime")]
mod confine;
#[cfg(feature = "runtime")]
mod details;
mod end;
#[cfg(any(feature = "client", feature = "runtime"))]
mod executable;
mod process;
#[cfg(feature = "runtime")]
mod wait_state;

#[cfg(feature = "runtime")]
pub(crate) use confine::confine;
#[cfg(feature = "runtime")]
pub(crate) use details::{check_view, file_size_limit, has_variable, ignored_signals};
#[cfg(feature = "runtime")]
pub(crate) use end::die_with_parent;
pub(crate) use end::{become_reaper, end, exit_handle, reap};
#[cfg(feature = "client")]
pub(crate) use executable::start;
#[cfg(feature = "runtime")]
pub(crate) use executable::{execute, own, reset_signals};
pub(crate) use process::{Stat, children, children_of, stat};
#[cfg(feature = "runtime")]
pub(crate) use wait_state::{Silence, StdioIds, WaitState};
