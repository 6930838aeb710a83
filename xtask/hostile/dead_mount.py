"""Becomes a command that has a mount that answers nothing, as that of a server that is gone: `dead_mount.py FOLDER COMMAND...`"""

import ctypes
import os
import sys

CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000


def main():
    folder, command = sys.argv[1], sys.argv[2:]
    libc = ctypes.CDLL(None, use_errno=True)

    def done(result):
        if result != 0:
            raise OSError(ctypes.get_errno(), "mount")

    os.makedirs(folder, exist_ok=True)
    done(libc.unshare(CLONE_NEWNS))
    done(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    # Held open by the command: its end would make the mount answer.
    fuse = os.open("/dev/fuse", os.O_RDWR)
    os.set_inheritable(fuse, True)
    options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0"
    done(libc.mount(b"dead", os.fsencode(folder), b"fuse.dead", 0, options.encode()))
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
