//! The namespaces of confined runs (users, processes, network, IPC) and the capabilities of processes in them.

use nix::sched::{CloneFlags, unshare};
use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};
use rustix::process::{Pid, getegid, geteuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, configure_capability_in_ambient_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};
use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::thread::Builder;

/// Moves this process, which must be single-threaded, into a new user namespace without any mapped IDs.
pub(crate) fn enter_user_namespace() -> io::Result<()> {
    Ok(unshare(CloneFlags::CLONE_NEWUSER)?)
}

/// Maps the user and group IDs of a process that has just entered a user namespace to themselves: all IDs if this
/// process is root, else only its own.
pub(crate) fn map_ids(pid: i32) -> io::Result<()> {
    let write = |name: &str, text: &str| {
        fs::OpenOptions::new().write(true).open(format!("/proc/{pid}/{name}"))?.write_all(text.as_bytes())
    };
    let all = |name: &str| -> io::Result<String> {
        let map = fs::read_to_string(format!("/proc/self/{name}"))?;
        let ranges = map.lines().filter_map(|line| {
            let mut words = line.split_ascii_whitespace();
            let (first, count) = (words.next()?, words.nth(1)?);
            Some(format!("{first} {first} {count}\n"))
        });
        Ok(ranges.collect())
    };
    if geteuid().is_root() && write("uid_map", &all("uid_map")?).is_ok() {
        return write("gid_map", &all("gid_map")?);
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    write("setgroups", "deny")?;
    write("uid_map", &format!("{user} {user} 1"))?;
    write("gid_map", &format!("{group} {group} 1"))
}

pub(crate) fn enter_mount_namespace() -> io::Result<()> {
    Ok(unshare(CloneFlags::CLONE_NEWNS)?)
}

/// Moves this process into new mount and IPC namespaces, and into a new network namespace unless `network` is true.
pub(crate) fn enter_run_namespaces(network: bool) -> io::Result<()> {
    let own = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC;
    Ok(unshare(if network { own } else { own | CloneFlags::CLONE_NEWNET })?)
}

/// Calls `start`. The first child that it starts becomes the first process of a new process namespace. Calls it on
/// another thread, since a thread cannot leave this state.
pub(crate) fn with_new_process_namespace<T: Send>(
    start: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    let work = || {
        unshare(CloneFlags::CLONE_NEWPID)?;
        start()
    };
    let panicked = |_| Err(io::Error::other("the thread that starts a run panicked"));
    std::thread::scope(|scope| Builder::new().spawn_scoped(scope, work)?.join().unwrap_or_else(panicked))
}

/// Sets the range of process IDs in the process namespace of this process. The next ID comes after `last`. Without
/// this, each run would have the same IDs, unlike on a real machine. `max` takes effect only if the kernel has a limit
/// per namespace (6.14 and later).
pub(crate) fn set_process_ids(last: u64, max: u64) -> io::Result<()> {
    fs::write("/proc/sys/kernel/pid_max", max.to_string()).unwrap_or_default();
    fs::write("/proc/sys/kernel/ns_last_pid", last.to_string())
}

/// Forbids the creation of user namespaces below the one of this process, if the kernel supports this.
pub(crate) fn forbid_user_namespaces() {
    fs::write("/proc/sys/user/max_user_namespaces", "0").unwrap_or_default();
}

/// Returns the ID that the process of a pidfd has in the process namespace of this process. `None` if the process is
/// gone.
pub(crate) fn process_id(pidfd: &OwnedFd) -> Option<Pid> {
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{}", pidfd.as_raw_fd())).ok()?;
    let number = info.lines().find_map(|line| line.strip_prefix("Pid:"))?;
    Pid::from_raw(number.trim().parse().ok()?)
}

/// Enables the loopback interface of a network namespace, which is its first interface and initially down.
pub(crate) fn enable_loopback() -> io::Result<()> {
    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
    const ERROR: u16 = 2;
    const FIRST: i32 = 1;
    const UP: u32 = 1;
    // struct nlmsghdr, then struct ifinfomsg.
    let mut message = Vec::with_capacity(32);
    message.extend(32_u32.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    message.extend([0; 8]);
    message.extend([0; 4]);
    message.extend(FIRST.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    message.extend(UP.to_ne_bytes());
    // Protocol 0 is NETLINK_ROUTE.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    sendto(&socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0; 64];
    let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    match answer[..length] {
        [_, _, _, _, a, b, ..] if u16::from_ne_bytes([a, b]) != ERROR => Err(Errno::PROTO.into()),
        [_, _, _, _, _, _, _, _, _, _, _, _, _, _, _, _, a, b, c, d, ..] => {
            match i32::from_ne_bytes([a, b, c, d]) {
                0 => Ok(()),
                number => Err(io::Error::from_raw_os_error(-number)),
            }
        }
        _ => Err(Errno::PROTO.into()),
    }
}

/// Whether a process in the same network namespace as this process tried to reach another machine, or a port without a
/// listener.
pub(crate) fn missed_network() -> bool {
    const COUNTS: &[(&str, &str)] = &[("Ip", "OutNoRoutes"), ("Udp", "NoPorts"), ("Tcp", "AttemptFails")];
    let table = fs::read_to_string("/proc/self/net/snmp").unwrap_or_default();
    let lines: Vec<&str> = table.lines().collect();
    let counted = lines.as_chunks::<2>().0.iter().any(|[names, values]| {
        let mut columns = names.split_ascii_whitespace().zip(values.split_ascii_whitespace());
        let Some(kind) = columns.next().and_then(|(name, _)| name.strip_suffix(':')) else { return false };
        columns.any(|(name, value)| value != "0" && COUNTS.contains(&(kind, name)))
    });
    let table = fs::read_to_string("/proc/self/net/snmp6").unwrap_or_default();
    counted
        || table.lines().any(|line| {
            let mut words = line.split_ascii_whitespace();
            matches!(words.next(), Some("Ip6OutNoRoutes" | "Udp6NoPorts"))
                && words.next().is_some_and(|n| n != "0")
        })
}

/// Keeps the capabilities of this process in its user namespace for programs that it becomes or starts. Programs of an
/// unprivileged user would otherwise lose them.
pub(crate) fn keep_capabilities() -> io::Result<()> {
    let sets = capabilities(None)?;
    set_capabilities(None, CapabilitySets { inheritable: sets.permitted, ..sets })?;
    let keep = |capability| configure_capability_in_ambient_set(capability, true);
    Ok(sets.permitted.iter().try_for_each(keep)?)
}

/// The capabilities that a run of root keeps: those over files and users. All others affect the machine.
const KEPT_CAPABILITIES: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETFCAP)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Drops capabilities for the program that this process becomes: all of them for an unprivileged user, and all but
/// [`KEPT_CAPABILITIES`] for root. No setuid program can regain them.
pub(crate) fn drop_capabilities() -> io::Result<()> {
    for capability in CapabilitySet::all().difference(KEPT_CAPABILITIES).iter() {
        match remove_capability_from_bounding_set(capability) {
            // This kernel does not have this capability.
            Err(Errno::INVAL) => {}
            dropped => dropped?,
        }
    }
    // Clearing the inheritable set clears the ambient set as well.
    let sets = capabilities(None)?;
    set_capabilities(None, CapabilitySets { inheritable: CapabilitySet::empty(), ..sets })?;
    Ok(set_no_new_privs(true)?)
}
