//! Detects whether a process was started with a closed stdout.
#![doc = include_str!("../README.md")]

use std::sync::atomic::{AtomicBool, Ordering};

static STDOUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Registers [`check_stdout`] with the loader, which calls the functions of this section before Rust's runtime starts.
///
/// SAFETY: the section is a list of pointers to functions of the C ABI. The loader may pass arguments, which the
/// function may ignore. The function makes one system call and stores one atomic value: it does not depend on the
/// runtime and cannot panic.
#[used]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
static INITIALIZER: extern "C" fn() = check_stdout;

#[expect(clippy::disallowed_methods, reason = "writes nothing")]
extern "C" fn check_stdout() {
    let is_closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()) == Err(rustix::io::Errno::BADF);
    STDOUT_WAS_CLOSED.store(is_closed, Ordering::Relaxed);
}

/// Returns whether stdout was closed when the process started.
pub fn stdout_was_closed() -> bool {
    STDOUT_WAS_CLOSED.load(Ordering::Relaxed)
}
