"""What a case is, and what is expected of it."""

from dataclasses import dataclass, field, replace
from typing import Callable

MIB = 1 << 20
#: The file that fills a disk; it is no leftover.
FILLER = "filler"
#: What confines a run, from nothing to all of it.
RUNGS = ("none", "landlock", "namespaces")


@dataclass(frozen=True)
class Expect:
    """How a case ends. What is `None` is not looked at."""

    codes: tuple = (0,)
    #: Statuses by ID of check, each one word or several: `{"p2-completes": "fail"}`.
    status: dict = field(default_factory=dict)
    #: Patterns that stdout or stderr must match.
    has: tuple = ()
    #: Text that must not be in stdout, stderr or a file that the program wrote.
    lacks: tuple = ()
    #: `kind` of the error object on stderr.
    kind: str | None = None
    #: Processes of the target may be left (and are ended by the driver).
    survivors: bool = False
    #: Folders may be left in TMPDIR; with `told`, if the report says so of each.
    leftovers: bool | str = False
    #: The program is stopped for ever, since nothing protects it; `None`: it may be.
    hangs: bool | None = False
    #: Looks at the folder of the case afterwards; returns what is wrong, or nothing.
    after: Callable | None = None


@dataclass(frozen=True)
class Case:
    name: str
    #: The command line. `{bin}`, `{work}`, `{targets}` and what `prepare` returns are put in.
    argv: tuple
    #: By rung, or one for all. A rung that is missing has the expectation of the one before it.
    expect: dict | Expect = Expect()
    #: Whether a target is run: then `--isolation` is added, and the rung counts.
    live: bool = True
    #: Files of its work folder: text, bytes or a function of the path; a leading `x:` in the name makes it executable.
    files: dict = field(default_factory=dict)
    #: Called with the folder of the case before; returns more words for the command line. What it adds to `case.undo`
    #: is called afterwards.
    prepare: Callable | None = None
    #: Called in a thread with the process once it runs.
    act: Callable | None = None
    #: A piece of sh before the program, such as `ulimit -n 20;`.
    before: str = ""
    #: Where stdout and stderr go, instead of files: `closed`, or a path.
    stdout: str | None = None
    stderr: str | None = None
    stdin: str | None = None
    #: Variables; `None` removes one.
    env: dict = field(default_factory=dict)
    deadline: float = 30
    memory: int = 256 * MIB
    #: The program prints JSON.
    json: bool = True
    #: Needs root, to prepare it.
    root: bool = False
    #: Runs as an ordinary user, also when the suite is run by root.
    user: bool = False
    #: Takes long, or much of the machine: left out by --quick.
    heavy: bool = False
    #: Runs alone, since it takes what others need.
    alone: bool = False

    def expected(self, rung):
        if isinstance(self.expect, Expect):
            return self.expect
        given = [self.expect[name] for name in RUNGS[: RUNGS.index(rung) + 1] if name in self.expect]
        return given[-1]

    def but(self, **changes):
        return replace(self, **changes)


def check(name, target, expect=Expect(), *, checks=("p2-exit-success",), probe="go", fast=True, timeout=5, more=(), **rest):
    """A `check` of a target with one probe. By default with the plain runs alone, which are few."""
    argv = ["{bin}/agentnative", "check", "--json", "--probe", probe, "--timeout", str(timeout)]
    argv += ["--fast"] if fast else []
    argv += [word for one in checks for word in ("--check", one)]
    return Case(name, (*argv, *more, target), expect, **rest)


def program(name, command, *words, expect=Expect(), **rest):
    """A command of agentnative that runs no target."""
    return Case(name, ("{bin}/agentnative", *command.split(), *words), expect, live=False, **rest)
