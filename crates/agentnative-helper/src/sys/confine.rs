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
    let filtered = match network {
        Network::All => true,
        Network::Ports(ports) => sockets::restrict(!ports.is_empty())?,
    };
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

/// The filter. Landlock sees neither UDP nor MPTCP, and no connection that is made by sending (TCP Fast Open).
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
mod sockets {
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
        /// There is none.
        pub const FOREIGN: u32 = u32::MAX;
    }
    /// The architecture of 32-bit programs on x86-64, and their calls.
    const I386: u32 = 0x4000_0003;
    const I386_SOCKETCALL: u32 = 102;
    const I386_SOCKET: u32 = 359;

    const UNIX: u32 = 1;
    const INET: u32 = 2;
    const INET6: u32 = 10;
    const STREAM: u32 = 1;
    /// What is not a flag, of the type of a socket.
    const TYPE: u32 = 0xf;
    const TCP: u32 = 6;
    const FAST_OPEN: u32 = 0x2000_0000;

    /// Lets the process make only Unix sockets, and with `tcp` TCP sockets as well; gives whether the kernel can.
    pub(super) fn restrict(tcp: bool) -> io::Result<bool> {
        match apply_filter(&program(tcp)) {
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

    fn program(tcp: bool) -> BpfProgram {
        let mut program = vec![
            load(ARCHITECTURE),
            ask(IS, I386, 5),
            load(NUMBER),
            unless(I386_SOCKETCALL),
            ask(IS, I386_SOCKET, 1),
            end(REFUSE),
            end(ALLOW),
            unless(numbers::ARCHITECTURE),
            end(REFUSE),
            load(NUMBER),
            ask(AT_LEAST, numbers::FOREIGN, 1),
            end(REFUSE),
            // Its operations pass by any filter.
            ask(IS, numbers::IO_URING_SETUP, 1),
            end(REFUSE),
        ];
        for (call, flags) in [(numbers::SENDTO, 3), (numbers::SENDMSG, 2), (numbers::SENDMMSG, 3)] {
            program.extend([
                ask(IS, call, 4),
                load(argument(flags)),
                ask(HAS, FAST_OPEN, 1),
                end(REFUSE),
                end(ALLOW),
            ]);
        }
        program.extend([ask(IS, numbers::SOCKET, 1), load(argument(0))]);
        // What is not `socket` is skipped to the end.
        let question = program.len() - 2;
        program.extend([ask(IS, UNIX, 1), end(ALLOW)]);
        if tcp {
            program.extend([
                unless(INET),
                ask(IS, INET6, 7),
                load(argument(1)),
                instruction(AND, 0, 0, TYPE),
                ask(IS, STREAM, 4),
                load(argument(2)),
                unless(0),
                ask(IS, TCP, 1),
                end(ALLOW),
            ]);
        }
        program.push(end(REFUSE));
        let skipped = program.len() - question - 1;
        program[question].jf = u8::try_from(skipped).unwrap_or(u8::MAX);
        program.push(end(ALLOW));
        program
    }
}

/// The numbers of calls are not known here.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")))]
mod sockets {
    pub(super) fn restrict(_tcp: bool) -> std::io::Result<bool> {
        Ok(false)
    }
}
