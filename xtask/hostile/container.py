"""Executes a command as in a container of a hosted CI: `container.py [--no-landlock] COMMAND...`

A seccomp filter refuses the system calls that the default profiles of container engines refuse, such as those for user
namespaces and mounts; root has only the capabilities of a container. The filter supports x86-64 and aarch64.
"""

import ctypes
import errno
import os
import platform
import struct
import sys

PR_CAPBSET_DROP, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 24, 22, 38
SECCOMP_MODE_FILTER = 2
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
#: CLONE_NEWNS, -CGROUP, -UTS, -IPC, -USER, -PID and -NET.
CLONE_NEW = 0x7E020000

#: The capabilities of root in a container: chown, dac_override, fowner, fsetid, kill, setgid, setuid, setpcap,
#: net_bind_service, net_raw, sys_chroot, mknod, audit_write, setfcap.
KEPT = {0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31}

#: System calls that are refused with EPERM, with their numbers on x86-64 and aarch64 (-1: does not exist).
REFUSED = {
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "mount_setattr": (442, 442), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "bpf": (321, 280), "perf_event_open": (298, 241), "ptrace": (101, 117),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "kexec_load": (246, 104), "reboot": (169, 142),
    "swapon": (167, 224), "swapoff": (168, 225), "sethostname": (170, 161), "setdomainname": (171, 162),
    "acct": (163, 89), "syslog": (103, 116), "quotactl": (179, 60), "userfaultfd": (323, 282),
    "open_by_handle_at": (304, 265), "io_uring_setup": (425, 425), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "settimeofday": (164, 170), "clock_settime": (227, 112), "lookup_dcookie": (212, 18),
    "ioperm": (173, -1), "iopl": (172, -1), "uselib": (134, -1), "vhangup": (153, 58),
}  # fmt: skip
LANDLOCK = {"landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445), "landlock_restrict_self": (446, 446)}
CLONE, CLONE3 = (56, 220), (435, 435)


def instruction(code, jump_true, jump_false, value):
    return struct.pack("HBBI", code, jump_true, jump_false, value)


def program(machine, landlock):
    """Returns the filter: refused calls and `clone` with a new namespace return EPERM, `clone3` returns ENOSYS."""
    load, equal, any_bit, back = 0x20, 0x15, 0x45, 0x06
    refused = REFUSED | ({} if landlock else LANDLOCK)
    code = [instruction(load, 0, 0, 0)]
    for numbers in refused.values():
        if numbers[machine] >= 0:
            code += [instruction(equal, 0, 1, numbers[machine]), instruction(back, 0, 0, ERRNO | errno.EPERM)]
    code += [instruction(equal, 0, 1, CLONE3[machine]), instruction(back, 0, 0, ERRNO | errno.ENOSYS)]
    # The flags are the first argument of clone, at offset 16 of the seccomp data.
    code += [
        instruction(equal, 0, 3, CLONE[machine]),
        instruction(load, 0, 0, 16),
        instruction(any_bit, 0, 1, CLONE_NEW),
        instruction(back, 0, 0, ERRNO | errno.EPERM),
        instruction(back, 0, 0, ALLOW),
    ]
    return b"".join(code), len(code)


def main():
    words = sys.argv[1:]
    landlock = words[0] != "--no-landlock"
    command = words if landlock else words[1:]
    libc = ctypes.CDLL(None, use_errno=True)

    def prctl(*args):
        if libc.prctl(*[ctypes.c_ulong(arg) for arg in (*args, 0, 0, 0, 0)[:5]]) != 0:
            raise OSError(ctypes.get_errno(), f"prctl{args}")

    code, length = program({"x86_64": 0, "aarch64": 1}[platform.machine()], landlock)
    buffer = ctypes.create_string_buffer(code)
    filter_ = ctypes.create_string_buffer(struct.pack("HxxxxxxP", length, ctypes.addressof(buffer)))
    if os.geteuid() == 0:
        # As in a container engine, root installs the filter without `no_new_privs`, and then drops capabilities.
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(filter_))
        for capability in range(64):
            if capability not in KEPT:
                libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    else:
        prctl(PR_SET_NO_NEW_PRIVS, 1)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.addressof(filter_))
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
