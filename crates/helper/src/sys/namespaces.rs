//! The namespaces of confined runs: users, processes, network, IPC; and what a process in them may do.

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

/// Puts this process, which must have one thread, into a user namespace of its own. No ID is mapped yet.
pub(crate) fn enter_user_namespace() -> io::Result<()> {
    Ok(unshare(CloneFlags::CLONE_NEWUSER)?)
}

/// Maps the IDs of a process that has just entered a user namespace to themselves: all of them if this process may, which
/// takes root, else only those of this process.
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

/// Gives this process mounts of its own.
pub(crate) fn enter_mount_namespace() -> io::Result<()> {
    Ok(unshare(CloneFlags::CLONE_NEWNS)?)
}

/// Gives this process mounts and IPC of its own, and a network of its own unless it is to have that of the machine.
pub(crate) fn enter_own_namespaces(network: bool) -> io::Result<()> {
    let own = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC;
    Ok(unshare(if network { own } else { own | CloneFlags::CLONE_NEWNET })?)
}

/// Does something whose first child is the first process of a new process namespace. It is done by a thread of its own,
/// since this one could not come back from there.
pub(crate) fn with_new_processes<T: Send>(start: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    let work = || {
        unshare(CloneFlags::CLONE_NEWPID)?;
        start()
    };
    let panicked = |_| Err(io::Error::other("the thread that starts a run panicked"));
    std::thread::scope(|scope| Builder::new().spawn_scoped(scope, work)?.join().unwrap_or_else(panicked))
}

/// Has the processes of the process namespace of this process get numbers after `last`: in a fresh namespace, those of each
/// run would be the same, which they are not on a machine. There are never more than `most` processes, if the kernel
/// has that limit for a namespace (6.14 and later).
pub(crate) fn number_processes(last: u32, most: u32) -> io::Result<()> {
    fs::write("/proc/sys/kernel/pid_max", most.to_string()).unwrap_or_default();
    fs::write("/proc/sys/kernel/ns_last_pid", last.to_string())
}

/// Keeps everybody in the user namespace of this process from making further ones, as far as the kernel can.
pub(crate) fn forbid_user_namespaces() {
    fs::write("/proc/sys/user/max_user_namespaces", "0").unwrap_or_default();
}

/// The number, for this process, of the process that a handle (a pidfd) stands for; none if it is gone.
pub(crate) fn process_of(handle: &OwnedFd) -> Option<Pid> {
    let info = fs::read_to_string(format!("/proc/self/fdinfo/{}", handle.as_raw_fd())).ok()?;
    let number = info.lines().find_map(|line| line.strip_prefix("Pid:"))?;
    Pid::from_raw(number.trim().parse().ok()?)
}

/// Turns on the loopback of a network namespace, which is its first interface and off at first.
pub(crate) fn turn_on_loopback() -> io::Result<()> {
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
    // Protocol 0 is that of routes and interfaces.
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

/// Whether somebody in the network namespace of this process tried to reach what is not there: another machine, or a
/// port that nobody listens on.
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

/// Has the programs that this process becomes and starts keep its rights in its user namespace: those of an ordinary user
/// would have none.
pub(crate) fn keep_rights() -> io::Result<()> {
    let rights = capabilities(None)?;
    set_capabilities(None, CapabilitySets { inheritable: rights.permitted, ..rights })?;
    let keep = |right| configure_capability_in_ambient_set(right, true);
    Ok(rights.permitted.iter().try_for_each(keep)?)
}

/// What root keeps of its rights: those over files and users. All others give power over the machine.
const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::DAC_READ_SEARCH)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETFCAP)
    .union(CapabilitySet::NET_BIND_SERVICE);

/// Takes away the rights that a program does not have that this process becomes: an ordinary user has none then, and
/// nobody gets more by a setuid program.
pub(crate) fn drop_rights() -> io::Result<()> {
    for capability in CapabilitySet::all().difference(KEPT).iter() {
        match remove_capability_from_bounding_set(capability) {
            // This kernel does not know it.
            Err(Errno::INVAL) => {}
            dropped => dropped?,
        }
    }
    // With those that can be inherited, those in the ambient set go.
    let rights = capabilities(None)?;
    set_capabilities(None, CapabilitySets { inheritable: CapabilitySet::empty(), ..rights })?;
    Ok(set_no_new_privs(true)?)
}
