"""Runs one case, and holds it to its expectation and to what holds for all."""

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

#: C0 but tab and line feed, DEL, C1, and what turns the direction of text: never printed raw.
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
POLL = 0.01
#: What goes on for so long after the program's end is left behind.
GRACE = 1.0


@dataclass
class World:
    """What all cases of one invocation share."""

    base: pathlib.Path
    binaries: str
    targets: str
    prefix: tuple
    surroundings: str
    isolation: str
    rung: str
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


class Scene:
    """The folder of one case, and what is undone after it."""

    def __init__(self, world, case):
        self.world, self.case = world, case
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="case-", dir=world.base))
        self.folder.chmod(0o755)
        self.work, self.tmp, self.outside = (self.folder / name for name in ("work", "tmp", "outside"))
        for path in (self.work, self.tmp, self.outside, self.folder / "home"):
            path.mkdir()
            path.chmod(0o777)
        # A configuration in a folder that others may write to is refused.
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


def environment(scene):
    given = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(scene.folder / "home"),
        "TMPDIR": str(scene.tmp),
        "LANG": "C.UTF-8",
    } | {name: value and value.format(**scene.words) for name, value in scene.case.env.items()}
    return {name: value for name, value in given.items() if value is not None}


def command(scene, more):
    world, case = scene.world, scene.case
    prefix = list(world.prefix)
    if case.user and os.geteuid() == 0 and world.surroundings == "here":
        prefix = list(USER)
    if case.before or case.stdout == "closed" or case.stderr == "closed":
        closed = " >&-" * (case.stdout == "closed") + " 2>&-" * (case.stderr == "closed")
        prefix += ["bash", "-c", f'{case.before.format(**scene.words)} exec "$0" "$@"{closed}']
    argv = [str(word).format(**scene.words) for word in (*case.argv, *more)]
    if case.live:
        argv += ["--isolation", world.isolation]
    return prefix + argv


def stream(scene, given, name, mode):
    return open(scene.folder / name if given in (None, "closed") else given, mode)


def run(world, case):
    """Runs a case. What is wrong with it is in the result."""
    result = Result(case.name)
    if case.root and os.geteuid() != 0:
        result.skipped = "only root can prepare it"
        return result
    scene = Scene(world, case)
    try:
        more = (case.prepare(scene) or ()) if case.prepare else ()
        observe(scene, more, result)
    finally:
        processes.kill_all()
        scene.close()
    return result


def expectation(world, case):
    expect = case.expected(world.rung if case.live else "none")
    if world.surroundings != "no-proc" or not case.live or 77 in expect.codes or 78 in expect.codes:
        return expect
    return Expect((1,), has=("/proc does not show the processes",))


def observe(scene, more, result):
    case, expect = scene.case, expectation(scene.world, scene.case)
    memory = processes.Memory(["agentnative", "agentnative-helper", "reference-agent"])
    standard_input = open(case.stdin.format(**scene.words) if case.stdin else "/dev/null", "rb")
    with standard_input, stream(scene, case.stdout, "out", "wb") as out, stream(scene, case.stderr, "err", "wb") as err:
        processes.forget_peak()
        started = time.monotonic()
        child = subprocess.Popen(
            command(scene, more), cwd=scene.work, env=environment(scene), stdin=standard_input, stdout=out, stderr=err,
            start_new_session=True,
        )  # fmt: skip
        act = threading.Thread(target=case.act, args=(scene, child), daemon=True) if case.act else None
        if act:
            act.start()
        usage = watched(child, memory, started + case.deadline)
        result.seconds = time.monotonic() - started
    if act:
        act.join(case.deadline)
    result.code = None if usage is None else child.returncode
    # Of all processes that were waited for, targets included: an upper bound that needs no poll.
    whole = usage.ru_maxrss * 1024 if usage else 0
    result.memory = whole if 0 < whole <= case.memory or (whole and not case.live) else memory.peak
    left = processes.survivors(0 if expect.survivors else GRACE)
    names = [processes.described(pid) for pid in left]
    processes.kill_all()
    out, err = (processes.read(scene.folder / name) for name in ("out", "err"))
    result.shown = (err[-400:] or out[-400:]).decode(errors="backslashreplace")
    result.wrong += list(ends(case, expect, result, names))
    result.wrong += list(prints(case, expect, result, out, err))
    remaining = [entry.name for entry in scene.tmp.iterdir() if entry.name != FILLER] if scene.tmp.is_dir() else []
    told = [name for name in remaining if f"{name} could not be removed".encode() in out + err]
    if remaining and not (expect.leftovers is True or (expect.leftovers == "told" and told == remaining)):
        result.wrong.append(f"left in TMPDIR: {', '.join(sorted(remaining)[:3])}")
    if expect.after and (fault := expect.after(scene)):
        result.wrong.append(fault)


def watched(child, memory, deadline):
    """Waits for the end, and tells what it used; `None` if it had to be killed."""
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            return usage
        if time.monotonic() > deadline:
            processes.kill_all()
            child.returncode = -signal.SIGKILL
            return None
        memory.look(child.pid)
        time.sleep(POLL)


def ends(case, expect, result, names):
    if result.code is None:
        if expect.hangs is False:
            yield f"did not end within {case.deadline:g} s"
    elif expect.hangs:
        yield "ended, though nothing seemed to protect it: change the expectation"
    elif result.code not in expect.codes:
        yield f"exit code {result.code} instead of {' or '.join(map(str, expect.codes))}"
    if names and not expect.survivors:
        yield f"{len(names)} survivors: {', '.join(names[:3])}"
    if result.memory > case.memory:
        yield f"{result.memory >> 20} MiB of memory, more than {case.memory >> 20}"


def prints(case, expect, result, out, err):
    texts = {"stdout": out.decode(errors="replace"), "stderr": err.decode(errors="replace")}
    for name, text in texts.items():
        if found := RAW.search(text):
            place = text[max(0, found.start() - 20) : found.end() + 20]
            yield f"raw control character in {name}: {place!r}"
        if "panicked at" in text:
            yield f"a panic in {name}"
    document = None
    if case.json and out:
        try:
            *_, document = (json.loads(line) for line in texts["stdout"].splitlines())
        except ValueError as error:
            yield f"stdout is no JSON: {error}"
    if case.json and result.code in (1, 2, 77, 78) and not out and case.stderr is None:
        yield from error_object(expect, texts["stderr"])
    if isinstance(document, dict) and isinstance(document.get("data"), dict):
        seen = {one["id"]: one["status"] for one in document["data"].get("results", [])}
        for check, wanted in expect.status.items():
            if seen.get(check) not in wanted.split():
                yield f"{check} is {seen.get(check)} instead of {wanted}"
    elif expect.status and result.code == 0 and case.stdout is None:
        yield "no report"
    for pattern in expect.has:
        if not any(re.search(pattern, text) for text in texts.values()):
            yield f"{pattern!r} is in neither stdout nor stderr"
    for text in expect.lacks:
        if any(text in printed for printed in texts.values()):
            yield f"{text!r} was printed"


def error_object(expect, text):
    try:
        error = json.loads(text.splitlines()[-1])
        kind = error["kind"]
    except (ValueError, IndexError, KeyError, TypeError):
        yield f"stderr ends in no error object: {text[-80:]!r}"
        return
    if expect.kind and kind not in expect.kind.split():
        yield f"error of the kind {kind} instead of {expect.kind}"

