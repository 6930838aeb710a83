"""Executes a command with an unresponsive mount at FOLDER, like that of a lost server: `dead_mount.py FOLDER COMMAND...`"""

import ctypes
import os
import sys

CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000


def main():
    folder, command = sys.argv[1], sys.argv[2:]
    libc = ctypes.CDLL(None, use_errno=True)

    def require_success(result):
        if result != 0:
            raise OSError(ctypes.get_errno(), "mount")

    os.makedirs(folder, exist_ok=True)
    require_success(libc.unshare(CLONE_NEWNS))
    require_success(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None))
    # The command inherits the descriptor: after it is closed, the mount would respond with errors.
    fuse = os.open("/dev/fuse", os.O_RDWR)
    os.set_inheritable(fuse, True)
    options = f"fd={fuse},rootmode=40000,user_id=0,group_id=0"
    require_success(libc.mount(b"dead", os.fsencode(folder), b"fuse.dead", 0, options.encode()))
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
