//! Linux's own: what the rest of this crate asks of the system, behind a few functions.
//!
//! Everything that reads /proc, or uses a pidfd, the subreaper, Landlock or a memfd, is here: the
//! children and the state of a process (`process`), its limits and what it was started with
//! (`details`), what it waits for (`wait_state`), how it is ended and reaped (`end`), how it is confined
//! (`namespaces` and `mounts`, or `confine`), what it uses (`usage`), how long it
//! waited for a processor (`scheduler`) or for a file lock (`locks`), the group of processes that a run is put into
//! (`cgroup`), how the helper's own executable is started (`executable`), and how a program is started again without a
//! variable (`handover`).

#![allow(
    clippy::disallowed_methods,
    reason = "no run can write to /proc, control groups and the places of mounts"
)]

#[cfg(feature = "runtime")]
mod cgroup;
#[cfg(feature = "runtime")]
mod confine;
#[cfg(feature = "runtime")]
mod details;
mod end;
#[cfg(any(feature = "client", feature = "handover", feature = "runtime"))]
mod executable;
#[cfg(feature = "handover")]
mod handover;
#[cfg(feature = "runtime")]
mod locks;
#[cfg(feature = "runtime")]
mod mounts;
#[cfg(feature = "runtime")]
mod namespaces;
mod process;
#[cfg(feature = "runtime")]
mod scheduler;
#[cfg(feature = "runtime")]
mod usage;
#[cfg(feature = "runtime")]
mod wait_state;

#[cfg(feature = "runtime")]
pub(crate) use cgroup::{Cgroup, Cgroups};
#[cfg(feature = "runtime")]
pub(crate) use confine::{Network, confine, filter_calls};
#[cfg(feature = "runtime")]
pub(crate) use details::{
    check_descriptors, check_view, file_size_limit, has_variable, ignored_signals, set_mode,
};
#[cfg(feature = "runtime")]
pub(crate) use end::{ChildEnds, die_with_parent, kill};
pub(crate) use end::{become_reaper, end, exit_handle, reap, wait_for_exit};
#[cfg(feature = "client")]
pub(crate) use executable::start;
#[cfg(feature = "runtime")]
pub(crate) use executable::{execute, own, reset_signals, unblock_signals};
#[cfg(feature = "handover")]
pub(crate) use handover::take_variable;
#[cfg(feature = "runtime")]
pub(crate) use locks::awaited_lock;
#[cfg(feature = "runtime")]
pub(crate) use mounts::{
    CopyOnWrite, EMPTY, MACHINE, SHARED, View, arrange, has_mounts_below, present, restrict, socket_paths,
};
#[cfg(feature = "runtime")]
pub(crate) use namespaces::{
    drop_rights, enter_mount_namespace, enter_own_namespaces, enter_user_namespace, forbid_user_namespaces,
    keep_rights, map_ids, missed_network, process_of, turn_on_loopback, with_new_processes,
};
pub(crate) use process::{Stat, children, children_of, stat};
#[cfg(feature = "runtime")]
pub(crate) use scheduler::{CpuTimes, ThreadTimes};
#[cfg(feature = "runtime")]
pub(crate) use usage::{end_first_for_memory, free_room, killed_for_memory, memory, memory_share, written};
#[cfg(feature = "runtime")]
pub(crate) use wait_state::{Silence, StdioIds, WaitState};
