"""Targets that leave unusual files in their folders, or fill the disk."""

import subprocess

from case import FILLER, Expect, check

from .processes import untouched, victim

FILES = "{targets}/heavy/files.py"
PASSES = Expect((0,), {"p2-exit-success": "pass"})


def creates(name, kind, expect=PASSES, **rest):
    return check(f"files/{name}", FILES, expect, probe=f"go {kind}", **rest)


def mount_small(size, full=False):
    """Returns a function that mounts a file system of this size at TMPDIR, with `full` without free space."""

    def mount(context):
        options = f"size={size},mode=777"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", context.tmp], check=True)
        context.undo.append(lambda: subprocess.run(["umount", "-l", context.tmp], check=True))
        if full:
            subprocess.run(["dd", "if=/dev/zero", f"of={context.tmp}/{FILLER}"], check=False, capture_output=True)

    return mount


def make_removable(context):
    """Removes the immutable attribute of files after the case."""

    def undo():
        subprocess.run(["chattr", "-R", "-i", context.tmp], check=False, capture_output=True)

    context.undo.append(undo)


#: A full disk is an error of the checker, never a problem of the target.
NO_SPACE = Expect((1,), kind="general", has=("No space left on device",))
SPACE_OR_ERROR = Expect((0, 1), {"p2-exit-success": "pass unverified"})

CASES = [
    # The clean-up has a time limit, so folders may be left.
    creates("deep-20000", "deep", Expect(PASSES.codes, PASSES.status, leftovers="reported"), timeout=60, deadline=180, heavy=True),
    creates("many-100000", "many", timeout=60, deadline=180, heavy=True, more=("--jobs", "2")),
    creates("closed-trees", "closed", timeout=30, deadline=120),
    creates("kinds-and-names", "kinds"),
    creates("links-outside", "links {outside}", Expect((0,), {"p2-exit-success": "pass"}, after=untouched), prepare=victim, user=True),
    creates("home-removed", "removed", Expect((0, 1), {"p2-exit-success": "pass fail"})),
    creates("home-replaced", "replaced {outside}", Expect((0, 1), {"p2-exit-success": "pass fail"}, after=untouched), prepare=victim),
    creates(
        "immutable", "immutable",
        {
            "none": Expect(PASSES.codes, PASSES.status, leftovers="reported"),
            "namespaces": PASSES,
        },
        root=True, prepare=make_removable,
    ),
    # Several parallel runs fill the disk, or one does.
    creates("disk-filled-by-target", "fill", SPACE_OR_ERROR, prepare=mount_small("8m"), root=True),
    check(
        "files/disk-filled-by-captures", "{targets}/heavy/print.py", NO_SPACE, probe="go string 30000",
        checks=("p2-output-json",), prepare=mount_small("8m"), root=True,
    ),
    creates("disk-full", "kinds", NO_SPACE, prepare=mount_small("64k", full=True), root=True),
    creates("large-files", "write", Expect((0, 1), {"p2-exit-success": "pass fail unverified"}), heavy=True, timeout=30, deadline=120, more=("--jobs", "2")),
]  # fmt: skip
