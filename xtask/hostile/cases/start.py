"""Targets that cannot be executed, or have unusual names."""

import os

from case import Expect, check

#: A target that is missing, is not a file or is not executable is a configuration or permission error. If the kernel
#: refuses to execute a target, all checks are unverified.
MISSING = Expect((78,), kind="config")
DENIED = Expect((77,), kind="auth permission")
REFUSED = Expect((1, 77, 78), {"p2-exit-success": "unverified", "p2-completes": "unverified", "p2-exit-usage": "unverified"})
RUNS = Expect((0,), {"p2-exit-success": "pass"})
SCRIPT = "#!/bin/sh\necho '{}'\n"


def elf(machine):
    """Returns a valid ELF executable for a machine, which consists of its headers and one segment that covers them."""
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + (2).to_bytes(2, "little") + machine.to_bytes(2, "little")
    header += (1).to_bytes(4, "little") + (0x400078).to_bytes(8, "little") + (64).to_bytes(8, "little") + bytes(8)
    header += bytes(4) + b"".join(n.to_bytes(2, "little") for n in (64, 56, 1, 0, 0, 0))
    segment = (1).to_bytes(4, "little") + (5).to_bytes(4, "little")
    segment += b"".join(n.to_bytes(8, "little") for n in (0, 0x400000, 0x400000, 120, 120, 4096))
    return header + segment


def file(name, content, expect, mode="x:", target="target", **rest):
    checks = ("p2-exit-success", "p2-completes", "p2-exit-usage")
    return check(
        f"start/{name}", f"{{work}}/{target}", expect, files={f"{mode}{target}": content}, checks=checks, fast=False, **rest
    )


def odd(label, name):
    """Returns a case with a script whose file name is a byte string."""

    def make(context):
        path = os.fsencode(context.work) + b"/" + name
        with open(path, "wb") as script:
            script.write(SCRIPT.encode())
        os.chmod(path, 0o755)
        context.words["odd"] = os.fsdecode(path)

    return check(f"name/{label}", "{odd}", RUNS, prepare=make)


GARBAGE = bytes((7919 * n * n + 31 * n) % 251 for n in range(4096))
ARM, X86 = 183, 62

CASES = [
    check("start/missing", "{work}/nothing", MISSING),
    file("folder", lambda path: path.mkdir(), Expect((77, 78, 0, 1))),
    # The interpreter in its first line is executed.
    check("start/script-not-executable", "{work}/target", RUNS, files={"target": SCRIPT}),
    file("not-executable", GARBAGE, DENIED, mode=""),
    file("empty", "", REFUSED),
    file("no-interpreter", "#!/no/such/interpreter\n", REFUSED),
    file("empty-interpreter", "#!\necho hi\n", REFUSED),
    file("crlf", "#!/bin/sh\r\necho '{}'\r\n", REFUSED),
    file("interpreter-is-itself", lambda path: path.write_text(f"#!{path}\n"), REFUSED),
    file("long-interpreter", "#!/" + "x" * 5000 + "\n", REFUSED),
    file("garbage", GARBAGE, REFUSED),
    file("other-machine", elf(ARM), REFUSED),
    file("truncated-elf", elf(X86)[:70], REFUSED),
    file("elf-of-nothing", elf(X86), Expect((0, 1), {"p2-exit-success": "fail unverified"})),
    file("fifo", lambda path: os.mkfifo(path), Expect((77, 78))),
    file("dangling", lambda path: path.symlink_to("nothing"), MISSING, mode=""),
    file("loop", lambda path: path.symlink_to("target"), Expect((1, 77, 78)), mode=""),
    file("device", lambda path: path.symlink_to("/dev/null"), Expect((77, 78)), mode=""),
    odd("newline", b"a\nb"),
    odd("dash", b"-rf"),
    odd("escape", b"\x1b[31mred\x07"),
    odd("no-utf8", b"\xff\xfe"),
    odd("direction", "a\u202eb".encode()),
    odd("long", b"x" * 255),
]  # fmt: skip
