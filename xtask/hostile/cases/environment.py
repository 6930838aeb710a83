"""The environment of the program itself: closed and full streams, low resource limits, unusual variables."""

from case import Expect, check, program

from .files import mount_small

TARGET = "{work}/cli"
CLI = {"x:cli": "#!/bin/sh\necho '{\"a\":1}'\n", "one.json": '{"a":1}', "schema.json": '{"type":"object"}'}
#: Arguments with which each command prints something.
COMMANDS = {
    "list": ("list",),
    "explain": ("explain", "p2-completes"),
    "schema": ("schema",),
    "validate": ("validate", "--contract", "./schema.json", "one.json"),
    "infer": ("contract", "infer", "one.json"),
    "diff": ("contract", "diff", "one.json", "schema.json"),
    "contract-list": ("contract", "list"),
    "outcome": ("outcome", "--from", "claude", "one.json"),
    "completions": ("completions", "bash"),
    "help": ("--help",),
    "version": ("--version",),
}
RUNS = Expect((0,), {"p2-exit-success": "pass"})
#: The check works, or reports its own error; no verdict blames the target.
EITHER = Expect((0, 1), {"p2-exit-success": "pass"})


def to(label, expect, **streams):
    for name, words in COMMANDS.items():
        yield program(f"{label}/{name}", *words, expect=expect, files=CLI, json=False, **streams)
    yield check(f"{label}/check", TARGET, expect, files=CLI, **streams)


def limited(name, limit, expect=EITHER, **rest):
    return check(f"limit/{name}", TARGET, expect, files=CLI, before=limit, fast=False, **rest)


def surrounded(name, env, expect=RUNS, **rest):
    return check(f"environment/{name}", TARGET, expect, files=CLI, env=env, **rest)


CASES = [
    *to("full-stdout", Expect((1,)), stdout="/dev/full"),
    *to("closed-stdout", Expect((1,)), stdout="closed"),
    check("full-stderr/check", "{work}/nothing", Expect((78,)), stderr="/dev/full"),
    check("closed-stderr/check", "{work}/nothing", Expect((78,)), stderr="closed"),
    *(
        check(f"full-file/{option}", TARGET, Expect((1,)), files=CLI, more=(f"--{option}", value))
        for option, value in (("record", "/dev/full"), ("report", "json=/dev/full"), ("write-baseline", "/dev/full"))
    ),
    *(limited(f"descriptors-{n}", f"ulimit -n {n};", Expect((0, 1), {"p2-exit-success": "pass"})) for n in (4, 5, 6, 8, 10, 14, 20, 30, 40)),
    *(limited(f"processes-{n}", f"ulimit -u {n};", user=True, alone=True) for n in (1, 2, 3, 4, 5, 8, 10, 15, 40, 60)),
    # The kernel kills a program that it cannot load by SIGSEGV.
    *(limited(f"memory-{n}", f"ulimit -v {n};", Expect((0, 1, -11))) for n in (20_000, 100_000)),
    *(limited(f"memory-{n}", f"ulimit -v {n};") for n in (400_000, 2_000_000)),
    # With a limit of 0, the error object could not be written either.
    *(limited(f"file-size-{n}", f"ulimit -f {n};", Expect((0, 1, -25))) for n in (1, 100)),
    # The limit is below the size of the program, which is copied into memory.
    limited("file-size-2048", "ulimit -f 2048;"),
    *(limited(f"umask-{mask}", f"umask {mask};", user=True) for mask in ("077", "377", "777")),
    *(limited(f"stack-{n}", f"ulimit -s {n};") for n in (64, 256, 1024)),
    limited("processor-1", "ulimit -t 1;", Expect((0, 1, -24, -9))),
    surrounded("empty", {"HOME": None, "PATH": None, "LANG": None, "TMPDIR": None}),
    surrounded("no-home", {"HOME": None}),
    surrounded("home-missing", {"HOME": "/dev/null/home"}),
    surrounded("home-relative", {"HOME": "relative"}),
    surrounded("tmpdir-missing", {"TMPDIR": "/nonexistent/tmp"}, Expect((1,))),
    surrounded("tmpdir-proc", {"TMPDIR": "/proc"}, Expect((1, 77))),
    surrounded("tmpdir-file", {"TMPDIR": "/etc/passwd"}, Expect((1, 77))),
    surrounded("tmpdir-empty", {"TMPDIR": ""}),
    surrounded("tmpdir-relative", {"TMPDIR": "."}),
    surrounded("tmpdir-tiny", {}, Expect((0, 1)), prepare=mount_small("16k"), root=True),
    surrounded("path-empty", {"PATH": ""}),
    surrounded("locale", {"LANG": "xx_YY.\x1b[31m", "LC_ALL": "\n"}),
    surrounded("terminal", {"TERM": "\x1b[31m", "COLUMNS": "0", "NO_COLOR": "", "CLICOLOR_FORCE": "1"}),
    surrounded("columns", {"COLUMNS": "99999999999999999999"}),
    surrounded("many-variables", {f"V{n}": "x" * 1000 for n in range(1000)}),
    surrounded("threads", {"RAYON_NUM_THREADS": "0", "TOKIO_WORKER_THREADS": "0", "RUST_MIN_STACK": "1"}),
    surrounded("traces", {"RUST_BACKTRACE": "full", "RUST_LOG": "trace"}),
]  # fmt: skip
