//! The helper's own executable: how it is started from bytes, and again from itself.

use std::path::Path;

/// This process's own executable, also when it has no name (any more).
#[cfg(any(feature = "handover", feature = "runtime"))]
pub(crate) fn own() -> &'static Path {
    Path::new("/proc/self/exe")
}

#[cfg(feature = "runtime")]
pub(crate) use execute::{execute, reset_signals, unblock_signals};
#[cfg(feature = "client")]
pub(crate) use start::start;

#[cfg(feature = "runtime")]
mod execute {
    use nix::sys::signal::SigSet;
    use nix::unistd::execve;
    use signal_hook::consts::{FORBIDDEN, SIGPIPE};
    use std::collections::BTreeMap;
    use std::ffi::{CString, OsStr, OsString};
    use std::io;
    use std::os::unix::ffi::OsStrExt;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    /// Becomes another program, or comes back with the reason why not. The kernel alone decides: `exec` of the
    /// standard library has the C library run a file that the kernel refuses as a script of the shell. Of a
    /// variable that is given twice, the last value counts.
    pub(crate) fn execute(program: &OsStr, args: &[OsString], env: &[(OsString, OsString)]) -> io::Error {
        let become_it = || -> io::Result<std::convert::Infallible> {
            let text = |text: &OsStr| Ok::<_, io::Error>(CString::new(text.as_bytes())?);
            let program = text(program)?;
            let args = args.iter().map(|arg| text(arg));
            let args = std::iter::once(Ok(program.clone())).chain(args).collect::<io::Result<Vec<_>>>()?;
            let last: BTreeMap<_, _> = env.iter().map(|(name, value)| (name, value)).collect();
            let variable = |(name, value): (&OsString, &OsString)| {
                Ok::<_, io::Error>(CString::new([name.as_bytes(), b"=", value.as_bytes()].concat())?)
            };
            let env = last.into_iter().map(variable).collect::<io::Result<Vec<_>>>()?;
            Ok(execve(&program, &args, &env)?)
        };
        match become_it() {
            Ok(never) => match never {},
            Err(error) => error,
        }
    }

    /// Unblocks all signals for this thread, and for the threads and processes that it starts.
    ///
    /// # Errors
    /// The kernel refuses to.
    pub(crate) fn unblock_signals() -> io::Result<()> {
        Ok(SigSet::empty().thread_set_mask()?)
    }

    /// Sets the signals that are ignored, and SIGPIPE, which this program ignores, back to their defaults: a signal
    /// with a handler gets its default back at exec, so it is enough to have one.
    pub(crate) fn reset_signals(ignored: &[i32]) {
        for &number in ignored.iter().chain([&SIGPIPE]).filter(|number| !FORBIDDEN.contains(number)) {
            // A number that is no signal cannot be ignored either.
            let unread = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register(number, unread).map(drop).unwrap_or_default();
        }
    }
}

#[cfg(feature = "client")]
mod start {
    use super::Path;
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};
    use rustix::io::Errno;
    use std::fs::{File, Permissions};
    use std::io::{self, Write};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Child;
    use std::time::Duration;

    /// While another thread starts a process, that one may hold our file open for writing: so long is
    /// waited for it.
    const TEXT_BUSY_TRIES: u32 = 100;
    const TEXT_BUSY_PAUSE: Duration = Duration::from_millis(2);

    /// Starts an executable that there is only as bytes: from memory, or, where the system refuses
    /// that, from a private file that is removed at once. `spawn` starts the executable of a path.
    pub(crate) fn start(bytes: &[u8], spawn: impl Fn(&Path) -> io::Result<Child>) -> io::Result<Child> {
        from_memory(bytes, &spawn).or_else(|_refused| from_file(bytes, &spawn))
    }

    fn from_memory(bytes: &[u8], spawn: impl Fn(&Path) -> io::Result<Child>) -> io::Result<Child> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        // Kernels before 6.3 do not know that flag, and need none.
        let file = match memfd_create(crate::names::NAME, flags | MemfdFlags::EXEC) {
            Err(Errno::INVAL) => memfd_create(crate::names::NAME, flags)?,
            file => file?,
        };
        let mut file = File::from(file);
        file.write_all(bytes)?;
        fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
        spawn(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())))
    }

    fn from_file(bytes: &[u8], spawn: impl Fn(&Path) -> io::Result<Child>) -> io::Result<Child> {
        let mut builder = tempfile::Builder::new();
        let mut file =
            builder.prefix("agentnative-").permissions(Permissions::from_mode(0o700)).tempfile()?;
        file.write_all(bytes)?;
        let path = file.into_temp_path();
        let mut tries = 0;
        loop {
            match spawn(&path) {
                Err(error)
                    if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < TEXT_BUSY_TRIES =>
                {
                    tries += 1;
                    std::thread::sleep(TEXT_BUSY_PAUSE);
                }
                child => return child,
            }
        }
    }
}
