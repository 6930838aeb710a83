//! How a process is confined without namespaces: Landlock, and a filter on sockets (seccomp).

use crate::Confinement;
use landlock::{
    ABI, Access, AccessFs, AccessNet, NetPort, RestrictionStatus, Ruleset, RulesetAttr, RulesetCreatedAttr,
    RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use std::ffi::OsString;
use std::io;

/// The network that a confined process has.
#[derive(Debug)]
pub(crate) enum Network<'a> {
    /// That of the machine.
    All,
    /// TCP connections to these ports of the machine.
    Ports(&'a [u16]),
}

/// Lets the process write only below `paths` (and to the devices everybody writes to), use no network but this, and signal
/// nobody outside; as far as the kernel can.
pub(crate) fn confine(paths: &[OsString], network: &Network<'_>) -> io::Result<Confinement> {
    let status = restrict(paths, network).map_err(io::Error::other)?;
    let filtered = calls::restrict(match network {
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

fn restrict(paths: &[OsString], network: &Network<'_>) -> Result<RulesetStatus, RulesetError> {
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

/// Keeps a process that is confined by namespaces from what these do not cover: the keyrings of the user, sockets to the
/// hypervisor or of the kernel's own, and io_uring, whose operations pass by any filter.
pub(crate) fn filter_calls() -> io::Result<()> {
    calls::restrict(Sockets::OfNamespace).map(drop)
}

/// The sockets that a process can make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sockets {
    Any,
    /// Those that are bound to its network namespace.
    OfNamespace,
    Unix,
    UnixAndTcp,
}

/// The filter of system calls (seccomp). Landlock sees neither UDP nor MPTCP, and no connection that is made by sending (TCP
/// Fast Open).
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
mod calls {
    use super::Sockets;
    use rustix::io::Errno;
    use seccompiler::{BpfProgram, apply_filter, sock_filter};
    use std::io;

    // linux/filter.h and linux/seccomp.h.
    const LOAD: u16 = 0x20;
    const IS: u16 = 0x15;
    const HAS: u16 = 0x45;
    const AT_LEAST: u16 = 0x35;
    const AND: u16 = 0x54;
    const RETURN: u16 = 0x06;
    const ALLOW: u32 = 0x7fff_0000;
    const REFUSE: u32 = 0x0005_0000 | Errno::ACCESS.raw_os_error() as u32;
    /// As on a kernel that does not have the call.
    const LACKING: u32 = 0x0005_0000 | Errno::NOSYS.raw_os_error() as u32;
    /// Where `struct seccomp_data` has the number of the call, its architecture, and the low half of an argument.
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
        /// Calls with numbers from here on belong to the x32 ABI.
        pub const FOREIGN: u32 = 0x4000_0000;
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
        /// There is none.
        pub const FOREIGN: u32 = u32::MAX;
    }
    /// The architecture of 32-bit programs on x86-64, and their calls.
    const I386: u32 = 0x4000_0003;
    const I386_SOCKETCALL: u32 = 102;
    const I386_SOCKET: u32 = 359;
    const I386_KEYS: [u32; 3] = [286, 287, 288];

    const UNIX: u32 = 1;
    const INET: u32 = 2;
    const INET6: u32 = 10;
    const NETLINK: u32 = 16;
    /// Interfaces and addresses, and statistics of sockets.
    const NETLINK_OF_NAMESPACE: [u32; 2] = [0, 4];
    const STREAM: u32 = 1;
    /// What is not a flag, of the type of a socket.
    const TYPE: u32 = 0xf;
    const TCP: u32 = 6;
    const FAST_OPEN: u32 = 0x2000_0000;

    /// Lets the process make only these sockets, and use neither keyrings nor, unless it makes any, io_uring. Returns whether
    /// the kernel can.
    pub(super) fn restrict(sockets: Sockets) -> io::Result<bool> {
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
    /// A question of the program: the next instruction is for "yes", and `no` skips so many.
    const fn ask(code: u16, k: u32, no: u8) -> sock_filter {
        instruction(code, 0, no, k)
    }
    /// If it is this, the next instruction is skipped.
    const fn unless(k: u32) -> sock_filter {
        instruction(IS, 1, 0, k)
    }
    const fn load(k: u32) -> sock_filter {
        instruction(LOAD, 0, 0, k)
    }
    const fn end(k: u32) -> sock_filter {
        instruction(RETURN, 0, 0, k)
    }

    fn program(sockets: Sockets) -> BpfProgram {
        let mut of_i386 = vec![load(NUMBER)];
        of_i386.extend(I386_KEYS.into_iter().flat_map(|call| [ask(IS, call, 1), end(LACKING)]));
        if sockets != Sockets::Any {
            // The arguments of the former are in memory, where no filter sees them.
            of_i386.extend([
                ask(IS, I386_SOCKETCALL, 1),
                end(REFUSE),
                ask(IS, numbers::IO_URING_SETUP, 1),
                end(LACKING),
            ]);
            of_i386.extend(when(I386_SOCKET, families(sockets)));
        }
        of_i386.push(end(ALLOW));
        let mut program = vec![load(ARCHITECTURE)];
        program.extend(when(I386, of_i386));
        program.extend([unless(numbers::ARCHITECTURE), end(REFUSE), load(NUMBER)]);
        program.extend([ask(AT_LEAST, numbers::FOREIGN, 1), end(REFUSE)]);
        program.extend(numbers::KEYS.into_iter().flat_map(|call| [ask(IS, call, 1), end(LACKING)]));
        if sockets == Sockets::Any {
            program.push(end(ALLOW));
            return program;
        }
        program.extend([ask(IS, numbers::IO_URING_SETUP, 1), end(LACKING)]);
        if sockets != Sockets::OfNamespace {
            for (call, flags) in [(numbers::SENDTO, 3), (numbers::SENDMSG, 2), (numbers::SENDMMSG, 3)] {
                let refuse = vec![load(argument(flags)), ask(HAS, FAST_OPEN, 1), end(REFUSE), end(ALLOW)];
                program.extend(when(call, refuse));
            }
        }
        program.extend(when(numbers::SOCKET, families(sockets)));
        program.push(end(ALLOW));
        program
    }

    /// These instructions, which end with a return, if what is loaded is this.
    fn when(value: u32, then: BpfProgram) -> BpfProgram {
        let skipped = u8::try_from(then.len()).unwrap_or(u8::MAX);
        [vec![ask(IS, value, skipped)], then].concat()
    }

    /// Allows the call that makes a socket for these, and refuses it for all others.
    fn families(sockets: Sockets) -> BpfProgram {
        let mut program = vec![load(argument(0)), ask(IS, UNIX, 1), end(ALLOW)];
        match sockets {
            Sockets::Any | Sockets::Unix => {}
            Sockets::OfNamespace => {
                program.extend([ask(IS, INET, 1), end(ALLOW), ask(IS, INET6, 1), end(ALLOW)]);
                let kinds = NETLINK_OF_NAMESPACE.into_iter().flat_map(|kind| [ask(IS, kind, 1), end(ALLOW)]);
                let kinds = std::iter::once(load(argument(2))).chain(kinds).chain([end(REFUSE)]);
                program.extend(when(NETLINK, kinds.collect()));
            }
            Sockets::UnixAndTcp => program.extend([
                unless(INET),
                ask(IS, INET6, 7),
                load(argument(1)),
                instruction(AND, 0, 0, TYPE),
                ask(IS, STREAM, 4),
                load(argument(2)),
                unless(0),
                ask(IS, TCP, 1),
                end(ALLOW),
            ]),
        }
        program.push(end(REFUSE));
        program
    }
}

/// The numbers of calls are not known here.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
mod calls {
    pub(super) fn restrict(_sockets: super::Sockets) -> std::io::Result<bool> {
        Ok(false)
    }
}
