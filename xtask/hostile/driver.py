"""Runs one case, and compares the result with its expectation and the requirements of all cases."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field

import processes
from case import FILLER, Expect
from surroundings import UID, USER

#: Characters that must not be printed raw: C0 except tab and line feed, DEL, C1, and bidirectional controls.
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
#: Interval of polling, in seconds.
POLL = 0.01
#: Seconds after the end of the program until the remaining processes count as survivors.
GRACE = 1.0


@dataclass
class World:
    """The settings that all cases of one invocation share."""

    base: pathlib.Path
    binaries: str
    targets: str
    prefix: tuple
    surroundings: str
    isolation: str
    level: str
    scale: float


@dataclass
class Result:
    name: str
    wrong: list = field(default_factory=list)
    skipped: str | None = None
    code: int | None = None
    seconds: float = 0.0
    memory: int = 0
    shown: str = ""


class CaseContext:
    """The folders of one case, its substitutions, and its clean-up functions."""

    def __init__(self, world, case):
        self.world, self.case = world, case
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="case-", dir=world.base))
        self.folder.chmod(0o755)
        self.work, self.tmp, self.outside = (self.folder / name for name in ("work", "tmp", "outside"))
        for path in (self.work, self.tmp, self.outside, self.folder / "home"):
            path.mkdir()
            path.chmod(0o777)
        # agentnative rejects a configuration in a folder that other users can write to.
        self.work.chmod(0o755)
        if os.geteuid() == 0 and (case.user or world.surroundings.startswith("user")):
            os.chown(self.work, UID, UID)
        self.words = {"bin": world.binaries, "targets": world.targets, "work": self.work, "outside": self.outside}
        self.undo = []
        for name, content in case.files.items():
            path = self.work / name.removeprefix("x:")
            path.parent.mkdir(parents=True, exist_ok=True)
            if callable(content):
                content(path)
            else:
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
            if name.startswith("x:"):
                path.chmod(0o755)

    def close(self):
        for undo in reversed(self.undo):
            undo()
        # A tree of 20,000 levels is too deep for `rmtree`.
        subprocess.run(["rm", "-rf", self.folder], check=False, capture_output=True)


def environment(context):
    variables = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(context.folder / "home"),
        "TMPDIR": str(context.tmp),
        "LANG": "C.UTF-8",
    } | {name: value and value.format(**context.words) for name, value in context.case.env.items()}
    return {name: value for name, value in variables.items() if value is not None}


def command(context, more):
    world, case = context.world, context.case
    prefix = list(world.prefix)
    if case.user and os.geteuid() == 0 and world.surroundings == "here":
        prefix = list(USER)
    if case.before or case.stdout == "closed" or case.stderr == "closed":
        closed = " >&-" * (case.stdout == "closed") + " 2>&-" * (case.stderr == "closed")
        prefix += ["bash", "-c", f'{case.before.format(**context.words)} exec "$0" "$@"{closed}']
    argv = [str(word).format(**context.words) for word in (*case.argv, *more)]
    if case.live:
        argv += ["--isolation", world.isolation]
    return prefix + argv


def stream(context, redirection, name, mode):
    return open(context.folder / name if redirection in (None, "closed") else redirection, mode)


def run(world, case):
    """Runs a case, and returns its result with all problems."""
    result = Result(case.name)
    if case.root and os.geteuid() != 0:
        result.skipped = "only root can prepare it"
        return result
    context = CaseContext(world, case)
    try:
        more = (case.prepare(context) or ()) if case.prepare else ()
        observe(context, more, result)
    finally:
        processes.kill_all()
        context.close()
    return result


def expectation(world, case):
    expect = case.expected(world.level if case.live else "none")
    if world.surroundings != "no-proc" or not case.live or 77 in expect.codes or 78 in expect.codes:
        return expect
    return Expect((1,), has=("/proc does not show the processes",))


def observe(context, more, result):
    case, expect = context.case, expectation(context.world, context.case)
    memory = processes.Memory(["agentnative", "agentnative-helper", "reference-agent"])
    standard_input = open(case.stdin.format(**context.words) if case.stdin else "/dev/null", "rb")
    with standard_input, stream(context, case.stdout, "out", "wb") as out, stream(context, case.stderr, "err", "wb") as err:
        processes.reset_peak()
        started = time.monotonic()
        child = subprocess.Popen(
            command(context, more), cwd=context.work, env=environment(context), stdin=standard_input, stdout=out, stderr=err,
            start_new_session=True,
        )  # fmt: skip
        act = threading.Thread(target=case.act, args=(context, child), daemon=True) if case.act else None
        if act:
            act.start()
        usage = wait(child, memory, started + case.deadline)
        result.seconds = time.monotonic() - started
    if act:
        act.join(case.deadline)
    result.code = None if usage is None else child.returncode
    # The peak over all reaped processes, targets included: an upper bound that needs no polling.
    upper_bound = usage.ru_maxrss * 1024 if usage else 0
    result.memory = upper_bound if 0 < upper_bound <= case.memory or (upper_bound and not case.live) else memory.peak
    left = processes.survivors(0 if expect.survivors else GRACE)
    names = [processes.description(pid) for pid in left]
    processes.kill_all()
    out, err = (processes.read(context.folder / name) for name in ("out", "err"))
    result.shown = (err[-400:] or out[-400:]).decode(errors="backslashreplace")
    result.wrong += list(end_problems(case, expect, result, names))
    result.wrong += list(output_problems(case, expect, result, out, err))
    remaining = [entry.name for entry in context.tmp.iterdir() if entry.name != FILLER] if context.tmp.is_dir() else []
    reported = [name for name in remaining if f"{name} could not be removed".encode() in out + err]
    if remaining and not (expect.leftovers is True or (expect.leftovers == "reported" and reported == remaining)):
        result.wrong.append(f"left in TMPDIR: {', '.join(sorted(remaining)[:3])}")
    if expect.after and (problem := expect.after(context)):
        result.wrong.append(problem)


def wait(child, memory, deadline):
    """Waits for the end, and returns the resource usage; `None` if the program was killed after its deadline."""
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            return usage
        if time.monotonic() > deadline:
            processes.kill_all()
            child.returncode = -signal.SIGKILL
            return None
        memory.update(child.pid)
        time.sleep(POLL)


def end_problems(case, expect, result, names):
    if result.code is None:
        if expect.hangs is False:
            yield f"did not end within {case.deadline:g} s"
    elif expect.hangs:
        yield "ended, but was expected to hang: change the expectation"
    elif result.code not in expect.codes:
        yield f"exited with {result.code}, expected {' or '.join(map(str, expect.codes))}"
    if names and not expect.survivors:
        yield f"{len(names)} survivors: {', '.join(names[:3])}"
    if result.memory > case.memory:
        yield f"used {result.memory >> 20} MiB of memory, expected at most {case.memory >> 20}"


def output_problems(case, expect, result, out, err):
    texts = {"stdout": out.decode(errors="replace"), "stderr": err.decode(errors="replace")}
    for name, text in texts.items():
        if found := RAW.search(text):
            excerpt = text[max(0, found.start() - 20) : found.end() + 20]
            yield f"raw control character in {name}: {excerpt!r}"
        if "panicked at" in text:
            yield f"a panic in {name}"
    document = None
    if case.json and out:
        try:
            *_, document = (json.loads(line) for line in texts["stdout"].splitlines())
        except ValueError as error:
            yield f"stdout is not valid JSON: {error}"
    if case.json and result.code in (1, 2, 77, 78) and not out and case.stderr is None:
        yield from error_object_problems(expect, texts["stderr"])
    if isinstance(document, dict) and isinstance(document.get("data"), dict):
        statuses = {result["id"]: result["status"] for result in document["data"].get("results", [])}
        for check, wanted in expect.status.items():
            if statuses.get(check) not in wanted.split():
                yield f"the status of {check} is {statuses.get(check)}, expected {wanted}"
    elif expect.status and result.code == 0 and case.stdout is None:
        yield "no report was printed"
    for pattern in expect.has:
        if not any(re.search(pattern, text) for text in texts.values()):
            yield f"{pattern!r} is in neither stdout nor stderr"
    for text in expect.lacks:
        if any(text in printed for printed in texts.values()):
            yield f"{text!r} was printed"


def error_object_problems(expect, text):
    try:
        error = json.loads(text.splitlines()[-1])
        kind = error["kind"]
    except (ValueError, IndexError, KeyError, TypeError):
        yield f"the last line of stderr is not an error object: {text[-80:]!r}"
        return
    if expect.kind and kind not in expect.kind.split():
        yield f"the kind of the error is {kind}, expected {expect.kind}"

