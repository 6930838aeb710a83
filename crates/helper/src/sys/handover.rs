//! Takes a variable out of the environment of this process, where all that it was started with can be read in /proc for
//! all its time: the process executes itself once more without it, and hands the value over in a pipe.

use super::executable::own;
use nix::unistd::{close, execve};
use rustix::pipe::{PipeFlags, pipe_with};
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::PathBuf;

/// The variable that says which descriptor the value comes from.
const HANDED_OVER: &str = "AGENTNATIVE_HANDED_OVER";
/// What a pipe holds at least, whoever made many of them.
const LONGEST: usize = 4096;

/// See [`take_variable`](crate::take_variable).
pub(crate) fn take_variable(name: &str) -> Option<OsString> {
    if let Some(from) = std::env::var_os(HANDED_OVER) {
        let value = from.to_str().and_then(|number| receive(number.parse().ok()?).ok());
        return value.or_else(|| std::env::var_os(name));
    }
    let value = std::env::var_os(name)?;
    if !value.is_empty() && value.len() <= LONGEST {
        // Where that cannot be done, it is as it was.
        hand_over(name, &value).unwrap_or_default();
    }
    Some(value)
}

/// Executes this program again; comes back only when that failed.
fn hand_over(name: &str, value: &OsStr) -> io::Result<()> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    File::from(write).write_all(value.as_bytes())?;
    let text = |bytes: &[u8]| Ok::<_, io::Error>(CString::new(bytes)?);
    let args = std::env::args_os().map(|arg| text(arg.as_bytes())).collect::<io::Result<Vec<_>>>()?;
    let others = std::env::vars_os().filter(|(other, _)| other != name);
    let number = (HANDED_OVER.into(), read.as_raw_fd().to_string().into());
    let variable =
        |(name, value): (OsString, OsString)| text(&[name.as_bytes(), b"=", value.as_bytes()].concat());
    let env = others.chain([number]).map(variable).collect::<io::Result<Vec<_>>>()?;
    let program = text(program().as_os_str().as_bytes())?;
    rustix::io::fcntl_setfd(&read, rustix::io::FdFlags::empty())?;
    Err(execve(&program, &args, &env).map_or_else(io::Error::from, |never| match never {}))
}

/// This program by its name, which the process is then named by; where another one has its name by now, by a name that
/// is always its own.
fn program() -> PathBuf {
    let is_own = |path: &PathBuf| {
        let (own, other) = (own().metadata().ok()?, path.metadata().ok()?);
        ((own.dev(), own.ino()) == (other.dev(), other.ino())).then_some(())
    };
    let named = std::env::current_exe().ok().filter(|path| is_own(path).is_some());
    named.unwrap_or_else(|| own().to_owned())
}

/// What is in this pipe, which is closed afterwards.
fn receive(number: RawFd) -> io::Result<OsString> {
    let path = own().with_file_name("fd").join(number.to_string());
    let is_pipe = number > 2 && path.metadata()?.file_type().is_fifo();
    if !is_pipe {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut value = Vec::new();
    File::open(path)?.take(LONGEST as u64).read_to_end(&mut value)?;
    close(number)?;
    Ok(OsString::from_vec(value))
}
