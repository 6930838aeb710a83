"""What targets do to the folders that they are given, and to the disk."""

import subprocess

from case import FILLER, Expect, check

from .processes import untouched, victim

FILES = "{targets}/heavy/files.py"
PASSES = Expect((0,), {"p2-exit-success": "pass"})


def made(name, kind, expect=PASSES, **rest):
    return check(f"files/{name}", FILES, expect, probe=f"go {kind}", **rest)


def mount_small(size, full=False):
    """Puts a file system of this size in the place of TMPDIR."""

    def mount(scene):
        options = f"size={size},mode=777"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", scene.tmp], check=True)
        scene.undo.append(lambda: subprocess.run(["umount", "-l", scene.tmp], check=True))
        if full:
            subprocess.run(["dd", "if=/dev/zero", f"of={scene.tmp}/{FILLER}"], check=False, capture_output=True)

    return mount


def make_removable(scene):
    """Takes the attribute off again that kept a file from being removed."""

    def undo():
        subprocess.run(["chattr", "-R", "-i", scene.tmp], check=False, capture_output=True)

    scene.undo.append(undo)


#: Our own want of disk is an error of ours, never told as the target's: exit 0 only where all of it was found room for.
WANT = Expect((1,), kind="general", has=("No space left on device",))
ROOM_OR_WANT = Expect((0, 1), {"p2-exit-success": "pass unverified"})

CASES = [
    # Clean-up has a time limit.
    made("deep-20000", "deep", Expect(PASSES.codes, PASSES.status, leftovers="told"), timeout=60, deadline=180, heavy=True),
    made("many-100000", "many", timeout=60, deadline=180, heavy=True, more=("--jobs", "2")),
    made("closed-trees", "closed", timeout=30, deadline=120),
    made("kinds-and-names", "kinds"),
    made("links-outside", "links {outside}", Expect((0,), {"p2-exit-success": "pass"}, after=untouched), prepare=victim, user=True),
    made("home-removed", "removed", Expect((0, 1), {"p2-exit-success": "pass fail"})),
    made("home-replaced", "replaced {outside}", Expect((0, 1), {"p2-exit-success": "pass fail"}, after=untouched), prepare=victim),
    made(
        "immutable", "immutable",
        {
            "none": Expect(PASSES.codes, PASSES.status, leftovers="told"),
            "namespaces": PASSES,
        },
        root=True, prepare=make_removable,
    ),
    # Many runs at once fill it, or the first does.
    made("disk-filled-by-target", "fill", ROOM_OR_WANT, prepare=mount_small("8m"), root=True),
    check(
        "files/disk-filled-by-captures", "{targets}/heavy/print.py", WANT, probe="go string 30000",
        checks=("p2-output-json",), prepare=mount_small("8m"), root=True,
    ),
    made("disk-full", "kinds", WANT, prepare=mount_small("64k", full=True), root=True),
    made("large-files", "write", Expect((0, 1), {"p2-exit-success": "pass fail unverified"}), heavy=True, timeout=30, deadline=120, more=("--jobs", "2")),
]  # fmt: skip
