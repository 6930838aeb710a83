//! The helper's executable: a supervisor that makes runs, some side by side.
//!
//! It starts its own executable again in several `roles`. `supervise` is the supervisor and `talk` its side of the socket;
//! `all_runs` is what runs have in common. `execute` makes a single run, `live` a call of it: `channel` opens the standard
//! descriptors, with `terminal`, `launch` starts this executable again as the `launcher`, which becomes the target as
//! the `plan` says, with its `run_environment`; `stream` and `capture` take the bytes, `redaction` takes secrets out of them;
//! `process_tag` and `process_tree` know the processes of a run again and end them all; `limits` sees what they use; `clock`
//! measures a time limit without the time that the machine withheld; `queue` says which run is made when, and which are made
//! again. `folder` makes the folder of a run, `snapshot` compares it, `removal` removes it, all by `dir`. A run that is
//! confined by namespaces is started by the `zygote`, and its first process is `init`; `sandbox` is our side of these, and
//! `cell` what both tell each other: `start_folder` and `in_home` say what a run sees. A `service` is executed as a run is,
//! and goes on beside them.

mod all_runs;
mod capture;
mod cell;
mod channel;
mod clock;
mod dir;
mod environment;
mod execute;
mod folder;
mod git;
mod home_view;
mod in_home;
mod init;
mod kind;
mod launch;
mod launcher;
mod limits;
mod live;
mod locale;
mod loopback;
mod needles;
mod plan;
mod process_tag;
mod process_tree;
mod queue;
mod redaction;
mod removal;
mod roles;
mod run_environment;
mod sandbox;
mod service;
mod slots;
mod snapshot;
mod spellings;
mod stalled;
mod start_folder;
mod status;
mod stop;
mod stream;
mod supervise;
mod talk;
mod terminal;
mod tripwires;
mod unblock;
mod zygote;

use crate::names::SUPERVISE;
use crate::sys;
use roles::{INIT, LAUNCH, ZYGOTE};
use std::io;
use std::process::ExitCode;
use supervise::supervise;

/// The stack of the supervisor, in bytes.
const STACK: usize = 1 << 20;

/// Runs the helper, if this process was started as one: a `main` calls this first and ends with the
/// code, if there is one. Must be called on the main thread.
pub fn main() -> Option<ExitCode> {
    let argument = std::env::args_os().nth(1)?;
    if ![LAUNCH, INIT, ZYGOTE, SUPERVISE].iter().any(|role| argument == *role) {
        return None;
    }
    // The caller may block some while it starts its children. Each role has to hear of its own that end, and targets
    // start with none blocked.
    if sys::unblock_signals().is_err() {
        return Some(ExitCode::FAILURE);
    }
    if argument == ZYGOTE {
        return Some(zygote::serve());
    }
    if argument == LAUNCH {
        // Only who is dumpable may.
        sys::end_first_for_memory();
    }
    // The environment of the caller comes over the socket, which no run may see.
    crate::set_non_dumpable();
    if argument == LAUNCH {
        return Some(launcher::launch());
    }
    if argument == INIT {
        return Some(init::serve());
    }
    // The caller's limit on the stack of a main thread may be too small.
    let supervisor = std::thread::Builder::new().stack_size(STACK).spawn(supervise);
    let ended = supervisor.map_or_else(
        |_| supervise(),
        |thread| thread.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into())),
    );
    Some(ended.map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS))
}
