//! Confines a process without namespaces, by Landlock and a filter on sockets (seccomp).

use crate::Confinement;
use landlock::{
    ABI, Access, AccessFs, AccessNet, NetPort, RestrictionStatus, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use std::ffi::OsString;
use std::io;

/// The network that a confined process can use.
#[derive(Debug)]
pub(crate) enum Network<'a> {
    /// The network of the machine.
    All,
    /// Only TCP connections to these ports of the machine.
    Ports(&'a [u16]),
}

/// Restricts this process as far as the kernel supports it. The process can write only below `paths` and to the devices
/// for all users, use only this network, and send no signals to processes outside. Returns the level that was achieved.
pub(crate) fn confine(paths: &[OsString], network: &Network<'_>) -> io::Result<Confinement> {
    let status = restrict_with_landlock(paths, network).map_err(io::Error::other)?;
    let filtered = seccomp::apply(match network {
        Network::All => Sockets::Any,
        Network::Ports([]) => Sockets::Unix,
        Network::Ports(_) => Sockets::UnixAndTcp,
    })?;
    Ok(match status {
        RulesetStatus::FullyEnforced if filtered => Confinement::Landlock,
        RulesetStatus::NotEnforced => Confinement::None,
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Confinement::PartlyLandlock,
    })
}

fn restrict_with_landlock(paths: &[OsString], network: &Network<'_>) -> Result<RulesetStatus, RulesetError> {
    const DEVICES: &[&str] =
        &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/pts"];
    // Version 5 adds the control of devices, which would break `isatty` on a terminal opened later.
    let writes = AccessFs::from_write(ABI::V4);
    let devices = DEVICES.iter().map(OsString::from);
    let ruleset = Ruleset::default().handle_access(writes)?.scope(Scope::from_all(ABI::V6))?;
    let (ruleset, ports) = match *network {
        Network::All => (ruleset, &[][..]),
        Network::Ports(ports) => (ruleset.handle_access(AccessNet::from_all(ABI::V4))?, ports),
    };
    let RestrictionStatus { ruleset, .. } = ruleset
        .create()?
        .add_rules(path_beneath_rules(paths.iter().cloned().chain(devices), writes))?
        .add_rules(
            ports.iter().map(|port| Ok::<_, RulesetError>(NetPort::new(*port, AccessNet::ConnectTcp))),
        )?
        .restrict_self()?;
    Ok(ruleset)
}

/// Restricts a process in namespaces beyond what the namespaces cover: no keyrings of the user, no sockets to the
/// hypervisor or to the kernel, and no io_uring, whose operations bypass every filter.
pub(crate) fn filter_system_calls() -> io::Result<()> {
    seccomp::apply(Sockets::Namespaced).map(drop)
}

/// The sockets that a process can create.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sockets {
    Any,
    /// Sockets that are bound to the network namespace of the process.
    Namespaced,
    Unix,
    UnixAndTcp,
}

/// The filter of system calls (seccomp). It covers what Landlock does not: UDP, MPTCP, and connections made by sending
/// (TCP Fast Open).
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
mod seccomp {
    use super::Sockets;
    use rustix::io::Errno;
    use seccompiler::{BpfProgram, apply_filter, sock_filter};
    use std::io;

    // Constants of linux/filter.h and linux/seccomp.h.
    const LOAD: u16 = 0x20;
    const EQUAL: u16 = 0x15;
    const ANY_BIT: u16 = 0x45;
    const AT_LEAST: u16 = 0x35;
    const AND: u16 = 0x54;
    const RETURN: u16 = 0x06;
    const ALLOW: u32 = 0x7fff_0000;
    const DENY: u32 = 0x0005_0000 | Errno::ACCESS.raw_os_error() as u32;
    /// Lets a system call fail as on a kernel that does not have the call.
    const NOT_IMPLEMENTED: u32 = 0x0005_0000 | Errno::NOSYS.raw_os_error() as u32;
    /// Offset of the number of a system call in `struct seccomp_data`. The offset of its architecture and that of the
    /// low half of an argument follow.
    const NUMBER: u32 = 0;
    const ARCHITECTURE: u32 = 4;
    const fn argument(nth: u32) -> u32 {
        16 + 8 * nth
    }

    #[cfg(target_arch = "x86_64")]
    mod numbers {
        pub const ARCHITECTURE: u32 = 0xc000_003e;
        pub const SOCKET: u32 = 41;
        pub const SENDTO: u32 = 44;
        pub const SENDMSG: u32 = 46;
        pub const SENDMMSG: u32 = 307;
        pub const IO_URING_SETUP: u32 = 425;
        pub const KEYS: [u32; 3] = [248, 249, 250];
        /// Lowest number of a system call of the x32 ABI.
        pub const FIRST_X32_CALL: u32 = 0x4000_0000;
    }
    #[cfg(not(target_arch = "x86_64"))]
    mod numbers {
        #[cfg(target_arch = "aarch64")]
        pub const ARCHITECTURE: u32 = 0xc000_00b7;
        #[cfg(target_arch = "riscv64")]
        pub const ARCHITECTURE: u32 = 0xc000_00f3;
        pub const SOCKET: u32 = 198;
        pub const SENDTO: u32 = 206;
        pub const SENDMSG: u32 = 211;
        pub const SENDMMSG: u32 = 269;
        pub const IO_URING_SETUP: u32 = 425;
        pub const KEYS: [u32; 3] = [217, 218, 219];
        /// Higher than any number of a system call, since this architecture has no x32 ABI.
        pub const FIRST_X32_CALL: u32 = u32::MAX;
    }
    /// The architecture of 32-bit programs on x86-64. The numbers of its system calls follow.
    const I386: u32 = 0x4000_0003;
    const I386_SOCKETCALL: u32 = 102;
    const I386_SOCKET: u32 = 359;
    const I386_KEYS: [u32; 3] = [286, 287, 288];

    const UNIX: u32 = 1;
    const INET: u32 = 2;
    const INET6: u32 = 10;
    const NETLINK: u32 = 16;
    /// Netlink protocols that are limited to a network namespace: for interfaces and addresses, and for statistics of
    /// sockets.
    const NAMESPACED_NETLINK: [u32; 2] = [0, 4];
    const STREAM: u32 = 1;
    /// Mask of the bits that contain the type of a socket, without its flags.
    const TYPE_MASK: u32 = 0xf;
    const TCP: u32 = 6;
    const FAST_OPEN: u32 = 0x2000_0000;

    /// Installs a filter of system calls. With it, this process can create only these sockets and use no keyrings. It
    /// cannot use io_uring, unless all sockets are allowed. Returns false if the kernel has no such filters.
    pub(super) fn apply(sockets: Sockets) -> io::Result<bool> {
        match apply_filter(&program(sockets)) {
            Ok(()) => Ok(true),
            Err(seccompiler::Error::Prctl(error) | seccompiler::Error::Seccomp(error))
                if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) =>
            {
                Ok(false)
            }
            Err(error) => Err(io::Error::other(error)),
        }
    }

    const fn instruction(code: u16, yes: u8, no: u8, k: u32) -> sock_filter {
        sock_filter { code, jt: yes, jf: no, k }
    }
    /// Returns an instruction that continues with the next one if the condition holds, and otherwise skips `no`
    /// instructions.
    const fn branch(code: u16, k: u32, no: u8) -> sock_filter {
        instruction(code, 0, no, k)
    }
    /// Returns an instruction that skips the next one if the loaded value is `k`.
    const fn skip_next_if(k: u32) -> sock_filter {
        instruction(EQUAL, 1, 0, k)
    }
    const fn load(k: u32) -> sock_filter {
        instruction(LOAD, 0, 0, k)
    }
    const fn ret(k: u32) -> sock_filter {
        instruction(RETURN, 0, 0, k)
    }

    fn program(sockets: Sockets) -> BpfProgram {
        let mut i386_program = vec![load(NUMBER)];
        i386_program
            .extend(I386_KEYS.into_iter().flat_map(|call| [branch(EQUAL, call, 1), ret(NOT_IMPLEMENTED)]));
        if sockets != Sockets::Any {
            // The arguments of `socketcall` are in memory, which a filter cannot read.
            i386_program.extend([
                branch(EQUAL, I386_SOCKETCALL, 1),
                ret(DENY),
                branch(EQUAL, numbers::IO_URING_SETUP, 1),
                ret(NOT_IMPLEMENTED),
            ]);
            i386_program.extend(if_equal(I386_SOCKET, socket_families(sockets)));
        }
        i386_program.push(ret(ALLOW));
        let mut program = vec![load(ARCHITECTURE)];
        program.extend(if_equal(I386, i386_program));
        program.extend([skip_next_if(numbers::ARCHITECTURE), ret(DENY), load(NUMBER)]);
        program.extend([branch(AT_LEAST, numbers::FIRST_X32_CALL, 1), ret(DENY)]);
        program.extend(
            numbers::KEYS.into_iter().flat_map(|call| [branch(EQUAL, call, 1), ret(NOT_IMPLEMENTED)]),
        );
        if sockets == Sockets::Any {
            program.push(ret(ALLOW));
            return program;
        }
        program.extend([branch(EQUAL, numbers::IO_URING_SETUP, 1), ret(NOT_IMPLEMENTED)]);
        if sockets != Sockets::Namespaced {
            for (call, flags) in [(numbers::SENDTO, 3), (numbers::SENDMSG, 2), (numbers::SENDMMSG, 3)] {
                let deny = vec![load(argument(flags)), branch(ANY_BIT, FAST_OPEN, 1), ret(DENY), ret(ALLOW)];
                program.extend(if_equal(call, deny));
            }
        }
        program.extend(if_equal(numbers::SOCKET, socket_families(sockets)));
        program.push(ret(ALLOW));
        program
    }

    /// Returns a program that executes `then` if the loaded value is `value`, and otherwise skips it. `then` ends with
    /// a return.
    fn if_equal(value: u32, then: BpfProgram) -> BpfProgram {
        let skipped = u8::try_from(then.len()).unwrap_or(u8::MAX);
        [vec![branch(EQUAL, value, skipped)], then].concat()
    }

    /// Returns a program that allows the system call `socket` for these sockets and denies it for all others.
    fn socket_families(sockets: Sockets) -> BpfProgram {
        let mut program = vec![load(argument(0)), branch(EQUAL, UNIX, 1), ret(ALLOW)];
        match sockets {
            Sockets::Any | Sockets::Unix => {}
            Sockets::Namespaced => {
                program.extend([branch(EQUAL, INET, 1), ret(ALLOW), branch(EQUAL, INET6, 1), ret(ALLOW)]);
                let kinds =
                    NAMESPACED_NETLINK.into_iter().flat_map(|kind| [branch(EQUAL, kind, 1), ret(ALLOW)]);
                let kinds = std::iter::once(load(argument(2))).chain(kinds).chain([ret(DENY)]);
                program.extend(if_equal(NETLINK, kinds.collect()));
            }
            Sockets::UnixAndTcp => program.extend([
                skip_next_if(INET),
                branch(EQUAL, INET6, 7),
                load(argument(1)),
                instruction(AND, 0, 0, TYPE_MASK),
                branch(EQUAL, STREAM, 4),
                load(argument(2)),
                skip_next_if(0),
                branch(EQUAL, TCP, 1),
                ret(ALLOW),
            ]),
        }
        program.push(ret(DENY));
        program
    }
}

/// Installs no filter, since the numbers of system calls are unknown on this architecture.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
mod seccomp {
    pub(super) fn apply(_sockets: super::Sockets) -> std::io::Result<bool> {
        Ok(false)
    }
}
