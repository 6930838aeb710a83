//! Removes a variable from the environment of this process. /proc shows the initial environment for the lifetime of a
//! process, so the process executes itself again without the variable, and passes the value through a pipe.

use super::executable::own_executable;
use nix::unistd::{close, execve};
use rustix::pipe::{PipeFlags, pipe_with};
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::PathBuf;

/// Name of the environment variable with the number of a file descriptor: the pipe from which the new process reads the
/// secret value.
const PIPE_VARIABLE: &str = "AGENTNATIVE_HANDED_OVER";
/// Maximum length of a passed value in bytes. A pipe has at least this capacity, even if the user has many pipes.
const MAX_VALUE_LEN: usize = 4096;

/// Implements [`take_variable`](crate::take_variable) for Linux.
pub(crate) fn take_variable(name: &str) -> Option<OsString> {
    if let Some(from) = std::env::var_os(PIPE_VARIABLE) {
        let value = from.to_str().and_then(|number| receive_value(number.parse().ok()?).ok());
        return value.or_else(|| std::env::var_os(name));
    }
    let value = std::env::var_os(name)?;
    if !value.is_empty() && value.len() <= MAX_VALUE_LEN {
        // On failure, the variable stays in the environment.
        execute_again(name, &value).unwrap_or_default();
    }
    Some(value)
}

/// Executes this program again without the variable `name`, and passes `value` through a pipe. Returns only on failure.
fn execute_again(name: &str, value: &OsStr) -> io::Result<()> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    File::from(write).write_all(value.as_bytes())?;
    let text = |bytes: &[u8]| Ok::<_, io::Error>(CString::new(bytes)?);
    let args = std::env::args_os().map(|arg| text(arg.as_bytes())).collect::<io::Result<Vec<_>>>()?;
    let others = std::env::vars_os().filter(|(other, _)| other != name);
    let number = (PIPE_VARIABLE.into(), read.as_raw_fd().to_string().into());
    let variable =
        |(name, value): (OsString, OsString)| text(&[name.as_bytes(), b"=", value.as_bytes()].concat());
    let env = others.chain([number]).map(variable).collect::<io::Result<Vec<_>>>()?;
    let program = text(program().as_os_str().as_bytes())?;
    rustix::io::fcntl_setfd(&read, rustix::io::FdFlags::empty())?;
    Err(execve(&program, &args, &env).map_or_else(io::Error::from, |never| match never {}))
}

/// Returns a path of this program, which also names the new process. If the path of the program refers to another file
/// by now, returns `/proc/self/exe`, which always refers to this program.
fn program() -> PathBuf {
    let is_own = |path: &PathBuf| {
        let (own_file, other) = (own_executable().metadata().ok()?, path.metadata().ok()?);
        ((own_file.dev(), own_file.ino()) == (other.dev(), other.ino())).then_some(())
    };
    let named = std::env::current_exe().ok().filter(|path| is_own(path).is_some());
    named.unwrap_or_else(|| own_executable().to_owned())
}

/// Reads the passed value from the pipe with this descriptor, and closes the pipe.
fn receive_value(number: RawFd) -> io::Result<OsString> {
    let path = own_executable().with_file_name("fd").join(number.to_string());
    let is_pipe = number > 2 && path.metadata()?.file_type().is_fifo();
    if !is_pipe {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut value = Vec::new();
    File::open(path)?.take(MAX_VALUE_LEN as u64).read_to_end(&mut value)?;
    close(number)?;
    Ok(OsString::from_vec(value))
}
