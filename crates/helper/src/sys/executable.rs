//! Starts the helper's executable from bytes, and replaces this process by other programs.

use std::path::Path;

/// Returns a path of this process's executable that works even if the file was renamed or removed.
#[cfg(any(feature = "handover", feature = "runtime"))]
pub(crate) fn own_executable() -> &'static Path {
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

    /// Replaces this process by another program; returns the error on failure. Unlike `exec` of the standard library,
    /// does not let the C library run a file as a shell script if the kernel rejects it. If `env` contains a variable
    /// twice, its last value counts.
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
    /// If the kernel refuses it.
    pub(crate) fn unblock_signals() -> io::Result<()> {
        Ok(SigSet::empty().thread_set_mask()?)
    }

    /// Restores the default action of these signals in the program that this process becomes, and of SIGPIPE, which
    /// Rust programs ignore. Registering a handler is enough: exec resets it to the default action.
    pub(crate) fn reset_signals(ignored: &[i32]) {
        for &number in ignored.iter().chain([&SIGPIPE]).filter(|number| !FORBIDDEN.contains(number)) {
            // An invalid number cannot be ignored either.
            let flag = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register(number, flag).map(drop).unwrap_or_default();
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

    /// Maximum number of attempts to execute the file. A process that another thread starts may hold the file open for
    /// writing for a moment.
    const TEXT_BUSY_TRIES: u32 = 100;
    const TEXT_BUSY_PAUSE: Duration = Duration::from_millis(2);

    /// Starts an executable from its bytes. `spawn` is called with a path of the executable and starts it. The path
    /// refers to memory; if the system does not allow this, to a private file that is removed immediately.
    pub(crate) fn start(bytes: &[u8], spawn: impl Fn(&Path) -> io::Result<Child>) -> io::Result<Child> {
        from_memory(bytes, &spawn).or_else(|_refused| from_file(bytes, &spawn))
    }

    fn from_memory(bytes: &[u8], spawn: impl Fn(&Path) -> io::Result<Child>) -> io::Result<Child> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        // Kernels before 6.3 do not have this flag and do not need it.
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
