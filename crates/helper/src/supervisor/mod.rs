//! The helper's executable: a supervisor that makes runs, several of them in parallel.
//!
//! The executable starts itself again in several [`roles`]:
//! - [`supervise`](mod@supervise) is the supervisor; [`client_socket`] is its end of the socket to the client,
//!   [`queue`] decides the order of the runs and which are repeated, and [`common`] is the state that all runs share.
//! - [`execute`] makes a run with its preparations; [`supervised_run`] makes one call in it. A [`service`] is executed
//!   like a run and stays alive during the runs.
//! - [`launch`] starts the [`launcher`], which becomes the target as the [`plan`] says, with its [`run_environment`].
//! - [`channel`] opens the standard descriptors, with a [`terminal`] if there is one; [`stream`] and [`capture`] read
//!   them, and [`redaction`] removes secrets.
//! - [`process_tag`] and [`process_tree`] find and kill all processes of a run, [`meter`] measures what they use, and
//!   [`clock`] measures a time limit without the time that the machine withheld.
//! - [`folder`] makes the folder of a run, [`snapshot`] compares it and [`removal`] removes it, all through [`dir`].
//! - The [`zygote`] starts a run that is confined by namespaces; [`init`] is the first process of such a run.
//!   [`sandbox`] is the supervisor's side of both and [`sandbox_spec`] has their messages. [`start_folder`] and
//!   [`visible_home`] decide which files a run sees.

mod blocking;
mod call_kind;
mod capture;
mod channel;
mod client_socket;
mod clock;
mod common;
mod dir;
mod encodings;
mod environment;
mod execute;
mod folder;
mod git;
mod home_view;
mod init;
mod launch;
mod launcher;
mod locale;
mod loopback;
mod meter;
mod plan;
mod process_tag;
mod process_tree;
mod queue;
mod redaction;
mod removal;
mod roles;
mod run_environment;
mod sandbox;
mod sandbox_spec;
mod secret_patterns;
mod service;
mod slots;
mod snapshot;
mod stalled;
mod start_folder;
mod status;
mod stop;
mod stream;
mod supervise;
mod supervised_run;
mod terminal;
mod tripwires;
mod visible_home;
mod zygote;

use crate::names::SUPERVISE;
use crate::sys;
use roles::{INIT, LAUNCH, ZYGOTE};
use std::io;
use std::process::ExitCode;
use supervise::supervise;

/// Stack size of the supervisor's thread, in bytes.
const STACK_SIZE: usize = 1 << 20;

/// Runs the helper if this process was started as one, and returns its exit code; returns `None` otherwise. A program
/// calls this first in its own `main`, on the main thread.
pub fn main() -> Option<ExitCode> {
    let argument = std::env::args_os().nth(1)?;
    if ![LAUNCH, INIT, ZYGOTE, SUPERVISE].iter().any(|role| argument == *role) {
        return None;
    }
    // The caller may block signals while it starts its children. Each role needs the signals that end it, and targets
    // start with none blocked.
    if sys::unblock_signals().is_err() {
        return Some(ExitCode::FAILURE);
    }
    if argument == ZYGOTE {
        return Some(zygote::run_zygote());
    }
    if argument == LAUNCH {
        // Only a dumpable process may do this.
        sys::prefer_for_oom_kill();
    }
    // No run may read this process: the environment of the caller arrives over the socket.
    crate::set_non_dumpable();
    if argument == LAUNCH {
        return Some(launcher::launch());
    }
    if argument == INIT {
        return Some(init::run_init());
    }
    // The caller's limit on the stack of a main thread may be too small.
    let supervisor = std::thread::Builder::new().stack_size(STACK_SIZE).spawn(supervise);
    let ended = supervisor.map_or_else(
        |_| supervise(),
        |thread| thread.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into())),
    );
    Some(ended.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS))
}
