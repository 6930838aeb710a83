"""The classes of a case and its expectation, and constructors of cases."""

from dataclasses import dataclass, field, replace
from typing import Callable

MIB = 1 << 20
#: Name of the file that fills a disk; it does not count as left over.
FILLER = "filler"
#: Confinement levels, in increasing order.
LEVELS = ("none", "landlock", "namespaces")


@dataclass(frozen=True)
class Expect:
    """The expected end of a case. `None` means any value."""

    #: Expected exit codes; negative numbers are signals.

    codes: tuple = (0,)
    #: Allowed statuses by check ID, separated by spaces: `{"p2-completes": "fail"}`.
    status: dict = field(default_factory=dict)
    #: Regular expressions that stdout or stderr must match.
    has: tuple = ()
    #: Texts that must not occur in stdout or stderr.
    lacks: tuple = ()
    #: Allowed values of `kind` in the error object on stderr, separated by spaces.
    kind: str | None = None
    #: Whether processes of the target may survive; the driver kills them.
    survivors: bool = False
    #: Whether folders may be left in TMPDIR; with `reported`, only if the report names each of them.
    leftovers: bool | str = False
    #: Whether the program hangs, since nothing protects it from the target; `None` if it may hang.
    hangs: bool | None = False
    #: Called after the case; returns the problem, or `None`.
    after: Callable | None = None


@dataclass(frozen=True)
class Case:
    name: str
    #: The command line. `{bin}`, `{work}`, `{targets}` and other keys of `context.words` are replaced.
    argv: tuple
    #: One expectation for all confinement levels, or one per level. A missing level has that of the level below.
    expect: dict | Expect = Expect()
    #: Whether a target is run. Then `--isolation` is added, and the confinement level selects the expectation.
    live: bool = True
    #: Files in the work folder: text, bytes, or a function of the path. Files with the prefix `x:` are executable.
    files: dict = field(default_factory=dict)
    #: Called before the case; returns additional arguments. Functions that it adds to `context.undo` are called after
    #: the case.
    prepare: Callable | None = None
    #: Called in a thread after the program was started, with its process.
    act: Callable | None = None
    #: Shell code before the program, such as `ulimit -n 20;`.
    before: str = ""
    #: Where stdout and stderr are redirected to instead of files: `closed`, or a path.
    stdout: str | None = None
    stderr: str | None = None
    stdin: str | None = None
    #: Environment variables; `None` removes a variable.
    env: dict = field(default_factory=dict)
    #: Seconds after which the case fails.
    deadline: float = 30
    #: Memory limit of each process of the programs, in bytes.
    memory: int = 256 * MIB
    #: Whether the program prints JSON.
    json: bool = True
    #: Whether the preparation needs root.
    root: bool = False
    #: Whether the case runs as an ordinary user even if the suite is run by root.
    user: bool = False
    #: Whether the case takes long or uses many resources; skipped with --quick.
    heavy: bool = False
    #: Whether no other case runs in parallel, since this one exhausts shared resources.
    alone: bool = False

    def expected(self, level):
        if isinstance(self.expect, Expect):
            return self.expect
        expectations = [self.expect[name] for name in LEVELS[: LEVELS.index(level) + 1] if name in self.expect]
        return expectations[-1]

    def but(self, **changes):
        return replace(self, **changes)


def check(name, target, expect=Expect(), *, checks=("p2-exit-success",), probe="go", fast=True, timeout=5, more=(), **rest):
    """Returns a case that checks a target with one probe, by default with plain runs only."""
    argv = ["{bin}/agentnative", "check", "--json", "--probe", probe, "--timeout", str(timeout)]
    argv += ["--fast"] if fast else []
    argv += [word for one in checks for word in ("--check", one)]
    return Case(name, (*argv, *more, target), expect, **rest)


def program(name, command, *words, expect=Expect(), **rest):
    """Returns a case of a command of agentnative that runs no target."""
    return Case(name, ("{bin}/agentnative", *command.split(), *words), expect, live=False, **rest)
