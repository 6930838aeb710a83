//! The interface to Linux.
//!
//! Everything that reads /proc, or uses a pidfd, the subreaper, Landlock or a memfd, is here:
//! - processes: their state and children (`process`), limits, environment and descriptors (`process_details`), what
//!   they wait for (`wait_state`), and how they are killed and reaped (`kill`);
//! - confinement: by namespaces (`namespaces`, `mounts`) or by Landlock (`confine`);
//! - resources: usage (`usage`), waits for a processor (`scheduler`) and for file locks (`locks`), and control groups
//!   (`cgroup`);
//! - programs: starting the helper's executable (`executable`), and restarting a program without a variable
//!   (`handover`).

#![allow(
    clippy::disallowed_methods,
    reason = "no run can write to /proc, control groups and the places of mounts"
)]

#[cfg(feature = "runtime")]
mod cgroup;
#[cfg(feature = "runtime")]
mod confine;
#[cfg(any(feature = "client", feature = "handover", feature = "runtime"))]
mod executable;
#[cfg(feature = "handover")]
mod handover;
mod kill;
#[cfg(feature = "runtime")]
mod locks;
#[cfg(feature = "runtime")]
mod mount_table;
#[cfg(feature = "runtime")]
mod mounts;
#[cfg(feature = "runtime")]
mod namespaces;
mod process;
#[cfg(feature = "runtime")]
mod process_details;
#[cfg(feature = "runtime")]
mod scheduler;
#[cfg(feature = "runtime")]
mod usage;
#[cfg(feature = "runtime")]
mod wait_state;

#[cfg(feature = "runtime")]
pub(crate) use cgroup::{Cgroup, Cgroups};
#[cfg(feature = "runtime")]
pub(crate) use confine::{Network, confine, filter_system_calls};
#[cfg(feature = "client")]
pub(crate) use executable::start;
#[cfg(feature = "runtime")]
pub(crate) use executable::{execute, own_executable, reset_signals, unblock_signals};
#[cfg(feature = "handover")]
pub(crate) use handover::take_variable;
#[cfg(feature = "runtime")]
pub(crate) use kill::{ChildNotifications, die_with_parent, kill};
pub(crate) use kill::{become_reaper, kill_unless_reused, open_process, reap, wait_for_exit};
#[cfg(feature = "runtime")]
pub(crate) use locks::awaited_lock;
#[cfg(feature = "runtime")]
pub(crate) use mount_table::has_mounts_below;
#[cfg(feature = "runtime")]
pub(crate) use mounts::{
    CopyOnWrite, EMPTY_FOLDER, FileView, MACHINE_FOLDER, SHARED_FOLDERS, accelerators, confine_mounts,
    none_if_missing, prepare_mounts, socket_paths,
};
#[cfg(feature = "runtime")]
pub(crate) use namespaces::{
    drop_capabilities, enable_loopback, enter_mount_namespace, enter_run_namespaces, enter_user_namespace,
    forbid_user_namespaces, keep_capabilities, map_ids, missed_network, process_id,
    with_new_process_namespace,
};
pub(crate) use process::{Stat, children, children_of, stat};
#[cfg(feature = "runtime")]
pub(crate) use process_details::{
    check_descriptors, check_proc, file_size_limit, has_variable, ignored_signals, set_mode,
};
#[cfg(feature = "runtime")]
pub(crate) use scheduler::{CpuTimes, ThreadTimes};
#[cfg(feature = "runtime")]
pub(crate) use usage::{free_space, memory, memory_share, oom_kills, prefer_for_oom_kill, written_bytes};
#[cfg(feature = "runtime")]
pub(crate) use wait_state::{StdioIds, WaitDetector, WaitState};
