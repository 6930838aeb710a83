"""Targets that try to reach the machine by links in place of folders, files that are executed later, sockets, system
calls and credentials; and project files that lead elsewhere."""

import fcntl
import json
import os
import pathlib
import pty
import signal
import socket
import time

from case import Case, Expect, check, program
from processes import ZOMBIES, stat
from surroundings import PYTHON

from .processes import untouched, victim

HEAVY = "{targets}/heavy"
HERE = pathlib.Path(__file__).resolve().parents[1]
#: Any verdict, or an error object.
ENDS = (0, 1)


def first_problem(*functions):
    """Returns a function that returns the first problem that one of the functions finds."""
    return lambda context: next((problem for function in functions if (problem := function(context))), None)


def configured(name, config, expect, *, command="check", prepare=victim, more=(), **rest):
    """Returns a case of a command with a configuration."""

    def write(context):
        (context.work / "agentnative.toml").write_text(config.format(**context.words))
        prepare(context)

    argv = ("{bin}/agentnative", *command.split(), "--json", *more)
    return Case(name, argv, expect, prepare=write, **{"deadline": 120} | rest)


LINKS = """
probe = [
  {{ name = 'own', args = ['go', '{outside}'] }},
  {{ name = 'all', args = ['go', '{outside}', 'all'] }},
  {{ name = 'planted', args = ['go', '{outside}'], secret = true, WORKSPACE, setup = [['plant', '{outside}'], ['go', '{outside}']] }},
  {{ name = 'changing', args = ['go', '{outside}'], WORKSPACE, changes = true, idempotent = true, setup = [['plant', '{outside}']] }},
]
[target]
command = ['{targets}/heavy/replace.py']
formats.json = ['--json']
secret = {{ env = 'DEMO_TOKEN', file = ['--token-file', '{{file}}'] }}
env = {{ DEMO_TOKEN = 'not-a-real-token' }}
%s
"""


def victim_with_folder(context):
    """Creates a victim and a folder with a file outside the start folder."""
    (context.outside / "folder").mkdir(mode=0o777)
    (context.outside / "folder/kept").write_text("untouched")
    victim(context)


def kept(context):
    """Requires that nothing was created or removed outside except links of the target."""
    found = sorted(str(path.relative_to(context.outside)) for path in context.outside.rglob("*") if not path.is_symlink())
    texts = [path.read_text() for path in context.outside.rglob("*") if path.is_file()]
    return None if found == ["folder", "folder/kept", "victim"] and set(texts) == {"untouched"} else f"outside: {found}"


def swept(context):
    """Requires that no temporary folder is left in the start folder."""
    left = [path.name for path in context.work.glob("agentnative-*")]
    return f"left in the start folder: {left}" if left else None


def links():
    for location, tmp in (("outside", None), ("start-folder", "{work}")):
        for kind, line in (("view", ""), ("writes", "writes = true")):
            config = LINKS.replace("WORKSPACE", "workspace = true" + (", writes = false" if line else ""))
            env = {"TMPDIR": tmp} if tmp else {}
            # An unconfined target moves the folder of all runs away.
            unconfined = Expect((0, 1, 78), after=kept, leftovers=True)
            confined = Expect(ENDS, after=first_problem(untouched, swept))
            expect = {"none": unconfined, "landlock": confined, "namespaces": confined}
            if tmp and line:
                # Landlock permits a target to rename each file that it may write to.
                expect["landlock"] = Expect(ENDS, after=untouched, leftovers=True)
            yield configured(f"links/{location}-{kind}", config % line, expect, prepare=victim_with_folder, env=env)


PLANT = """
[target]
command = ['{targets}/heavy/plant.py']
formats.json = ['--json']
writes = %s
[[probe]]
name = 'go'
args = ['go', '{work}']
"""
BUILDS = "[target]\ncommand = ['./cli']\nbuild = ['./build.sh']\n[[probe]]\nname = 'go'\nargs = ['go']\n"
PROJECT = {
    ".git/HEAD": "ref: refs/heads/main\n", ".git/config": "[core]\n", ".git/hooks/sample": "", ".envrc": "",
    "package.json": '{"name":"x"}', "x:build.sh": "#!/bin/sh\n", "x:cli": "#!/bin/sh\necho '{}'\n",
    "agentnative.lock/plant.py/go.json.json": "{}",
}  # fmt: skip
#: Paths that are write-protected even if the target declares `writes`.
PROTECTED = (".git", "agentnative.toml", "agentnative.lock")


def tree(folder):
    """Returns the mode and content of everything in a folder, by path."""

    def content(path):
        return os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None

    return {str(path.relative_to(folder)): (path.lstat().st_mode, content(path)) for path in folder.rglob("*")}


def project(context):
    victim(context)
    context.tree = tree(context.work)


def unchanged(*names):
    """Requires that nothing changed in the start folder, or in these entries of it."""

    def find_problem(context):
        now = tree(context.work)
        changed = {path for path in now.keys() | context.tree.keys() if now.get(path) != context.tree.get(path)}
        changed = sorted(path for path in changed if not names or path.split("/")[0] in names)
        return f"changed in the start folder: {changed}" if changed else None

    return find_problem


def unbuilt(context):
    return "a build script that a run wrote was executed" if (context.outside / "built").exists() else None


def plants():
    for writes, names in (("false", ()), ("true", PROTECTED)):
        confined = first_problem(unbuilt, untouched, unchanged(*names))
        expect = {"none": Expect(ENDS, after=unbuilt), "landlock": Expect(ENDS, after=confined)}
        if writes == "true":
            # Landlock cannot protect files in a writable folder.
            expect = {"none": Expect(ENDS, after=unbuilt), "namespaces": Expect(ENDS, after=confined)}
        yield configured(f"plant/writes-{writes}", PLANT % writes, expect, prepare=project, files=PROJECT, more=("--fast",))
    sub = {f"{'x:' * (path[:2] == 'x:')}sub/{path.removeprefix('x:')}": text for path, text in PROJECT.items()}
    files = {"agentnative.toml": "", "sub/agentnative.toml": BUILDS} | sub
    yield configured(
        "plant/build-of-another", (PLANT % "true").replace("{work}", "{work}/sub"), Expect(ENDS, after=unbuilt),
        files=files, prepare=project, command="check --fast --jobs 1 --all",
    )  # fmt: skip


def reached(*allowed, must=()):
    """Requires that the runs reached nothing but `allowed` and `must`, and all of `must`."""

    def find_problem(context):
        found = set()
        for line in (context.work / "recording").read_text().splitlines():
            run = json.loads(line)
            if (run.get("stdout") or {}).get("bytes", {}).get("text", "").startswith('{"reached"'):
                found.update(json.loads(run["stdout"]["bytes"]["text"])["reached"])
                found.add("run")
        found = {name.replace(str(context.folder), "") for name in found}
        if extra := found - {*allowed, *must, "run"}:
            return f"{', '.join(sorted(extra))} was reached"
        return f"{', '.join(sorted(missing))} was not reached" if (missing := {"run", *must} - found) else None

    return find_problem


def reaches(name, words, expect, **rest):
    return check(
        f"reach/{name}", f"{HEAVY}/reach.py", expect, probe=f"go {words}", more=("--record", "{work}/recording"), **rest
    )


NAMES = ("plain", "renamed", "linked", "line\nfeed", "blank name")


def named(context):
    """Creates sockets that were renamed, linked or unlinked, a pipe and a lock, outside and in the start folder."""
    for folder in (context.outside, context.work):
        for name in (name + ending for ending in ("", ".dgram") for name in NAMES):
            server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM if name.endswith(".dgram") else socket.SOCK_STREAM)
            context.undo.append(server.close)
            server.bind(str(folder / name))
            (folder / name).chmod(0o777)
            if server.type == socket.SOCK_STREAM:
                server.listen(100)
        for ending in ("", ".dgram"):
            (folder / f"renamed{ending}").rename(folder / f"new-name{ending}")
            (folder / f"other-link{ending}").hardlink_to(folder / f"linked{ending}")
        os.mkfifo(folder / "pipe")
        (folder / "lock").touch()
        for name in ("pipe", "lock"):
            (folder / name).chmod(0o666)
            held = os.open(folder / name, os.O_RDWR | os.O_NONBLOCK)
            context.undo.append(lambda held=held: os.close(held))
        fcntl.flock(held, fcntl.LOCK_EX)


def terminal(context):
    """Creates a terminal that every user can read and write."""
    controller, device = pty.openpty()
    context.words["terminal"] = os.ttyname(device)
    os.chmod(context.words["terminal"], 0o666)
    context.undo += [lambda: os.close(controller), lambda: os.close(device)]


#: Files with credentials, relative to the home.
CREDENTIALS = (
    ".pgpass", ".vault-token", ".netrc", ".npmrc", ".git-credentials", ".ssh/id_ed25519", ".aws/credentials", ".kube/config",
    ".docker/config.json", ".terraform.d/credentials", ".m2/settings.xml", ".gem/credentials", ".gnupg/secring.gpg",
    ".cargo/credentials.toml", ".config/gh/hosts.yml", ".config/rclone/rclone.conf", ".config/chromium/Default/Cookies",
    ".local/share/keyrings/login", ".claude/.credentials.json", ".qwen/oauth.json", ".an-agent-of-tomorrow/token", "notes",
)  # fmt: skip
#: Environment variables with the folder of a credentials file.
FOLDERS = ("DOCKER_CONFIG", "CARGO_HOME", "GNUPGHOME", "CLOUDSDK_CONFIG", "GH_CONFIG_DIR")
VARIABLES = {
    name: "{outside}/" + name
    for name in ("KUBECONFIG", "GOOGLE_APPLICATION_CREDENTIALS", "NPM_CONFIG_USERCONFIG", "PGPASSFILE", "NETRC", *FOLDERS)
}  # fmt: skip
PLACES = [*(f"/home/{name}" for name in CREDENTIALS), *(f"/outside/{name}" for name in VARIABLES)]
PLACES = [place + "/credentials.toml" * (place.split("/")[-1] in FOLDERS) for place in PLACES]


def credentials(context):
    for place in PLACES:
        path = context.folder / place[1:]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("s3cr3t")
    context.words["home"] = context.folder / "home"


def secrets(name, env, hidden=()):
    """Returns a case in which a confined target must not see credentials in the home, but all files of the project."""
    others = [place for place in PLACES if place.startswith("/home/")] if "HOME" in env else []
    kept = ("/work/.npmrc", "/work/.netrc", "/work/.pypirc")
    expect = {
        "none": Expect(after=reached("home", must=(*PLACES, *kept))),
        "namespaces": Expect(after=reached(*others, must=kept)),
    }
    return reaches(
        f"credentials-{name}", "secrets {home} {outside} {work}", expect, prepare=credentials, env=VARIABLES | env,
        files=dict.fromkeys((".npmrc", ".netrc", ".pypirc"), "s3cr3t"),
    )  # fmt: skip


CALLS = ("keyring", "io_uring", "vsock", "uevents", "user-namespace", "namespace")
REACHES = [
    reaches(
        "names", "names {outside} {work}",
        {
            "none": Expect(after=reached(must=("socket", "datagram", "pipe", "lock"))),
            # Landlock cannot restrict connections to sockets with a path, or locks.
            "landlock": Expect(after=reached("socket", "datagram", "lock")),
            "namespaces": Expect(after=reached()),
        },
        prepare=named,
    ),
    reaches(
        "kernel", "kernel {terminal}",
        {
            "none": Expect(after=reached(*CALLS, must=("terminal",))),
            # Landlock leaves the namespaces and terminals of the machine accessible.
            "landlock": Expect(after=reached(*CALLS[-2:], "terminal")),
            "namespaces": Expect(after=reached()),
        },
        prepare=terminal,
    ),
    secrets("given", {}),
    secrets("no-home", {"HOME": None}),
    secrets("empty-home", {"HOME": ""}),
    secrets("relative-home", {"HOME": "home"}),
]  # fmt: skip


#: A target without a help page, in a folder that cannot be copied.
TERSE = {"x:cli": "#!/bin/sh\n[ \"$1\" = go ] || exit 2\necho '{}'\n"}
UNCOPYABLE = {
    "pipe": {"files": TERSE | {"pipe": lambda path: os.mkfifo(path)}},
    "temporary-folder": {"files": TERSE, "env": {"TMPDIR": "{work}"}},
}


def ended_soon(context):
    return None if context.duration < 2 else f"ended {context.duration:.1f} s after the signal, expected less than 2 s"


def terminate(context, child):
    """Sends SIGTERM after 0.5 s, and measures the time until the end."""
    time.sleep(0.5)
    sent = time.monotonic()
    context.duration = 0
    try:
        os.kill(child.pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    while (found := stat(child.pid)) and found[0] not in ZOMBIES:
        context.duration = time.monotonic() - sent
        time.sleep(0.01)


def dead_mount(name, folder, expect, cli=PROJECT["x:cli"], **rest):
    case = check(f"environment/dead-mount-{name}", "{work}/cli", expect, files={"x:cli": cli}, root=True, **rest)
    return case.but(argv=(PYTHON, str(HERE / "dead_mount.py"), folder, *case.argv))


MANIFESTS = ("package.json", "Cargo.toml", "pyproject.toml", "agentnative.toml", ".gitignore", "go.mod")
KINDS = {
    "zero": lambda path: path.symlink_to("/dev/zero"),
    "pipe": lambda path: os.mkfifo(path),
    "sparse": lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 20 << 30),
}


def manifests():
    """Yields cases with manifests in the project and in its parent folder."""
    for name in MANIFESTS:
        for kind, make in KINDS.items():
            files = {name: make, "sub/x:cli": "", "sub/main.py": "print(1)\n"}
            for place in (".", "sub"):
                yield program(
                    f"manifest/{name}/{kind}/{place}", "check --json --layer source,project", place,
                    expect=Expect((0, 1, 77, 78)), files=files, deadline=20,
                )  # fmt: skip


def linked_files(path):
    (path / "cli").mkdir(parents=True)
    for name in ("go.json.json", "go.text.json"):
        (path / "cli" / name).symlink_to("../../../outside/victim")


def linked_folder(path):
    path.mkdir()
    (path / "cli").symlink_to("../../outside/folder")


LOCKED = "[target]\ncommand = ['./cli']\nformats.json = ['--json']\n[[probe]]\nname = 'go'\nargs = ['go']\n"


def locks():
    for kind, make in {"files": linked_files, "folder": linked_folder}.items():
        yield configured(
            f"lock/linked-{kind}", LOCKED, Expect((0, 1, 77, 78), after=untouched), command="contract lock --update",
            files={"x:cli": PROJECT["x:cli"], "agentnative.lock": make}, prepare=victim_with_folder,
        )  # fmt: skip


def chain(length, end):
    """Returns a schema with a chain of `length` references that ends at a type."""
    links = {str(n): {"$ref": f"#/$defs/{n + 1}"} for n in range(length)}
    return json.dumps({"$defs": links | {str(length): {"type": end}}, "$ref": "#/$defs/0"})


def chains():
    """Yields cases whose schemas differ only at the end of the chain; they must never be reported as equal."""
    for length in (200, 2000, 20_000):
        yield program(
            f"chain/{length}", "contract diff --strict --json", "one.json", "two.json", expect=Expect((1, 78)),
            files={"one.json": chain(length, "string"), "two.json": chain(length, "object")},
        )  # fmt: skip


def nested(opening, closing, depth, times=1):
    return lambda: (f"{opening}\n" * depth + f"{closing}\n" * depth) * times


GO = 'package main\nimport "fmt"\nfunc main() {\n%s}\n'
#: The file, its text, and whether it is skipped, so that no check that needs it may pass, by name.
SOURCES = {
    "deep-go": ("main.go", lambda: GO % nested("fmt.Println(", ")", 8000)(), True),
    "nested-go": ("main.go", lambda: GO % nested("fmt.Println(", ")", 1900)(), True),
    "deep-python": ("main.py", nested("print(", ")", 20_000), True),
    "nested-python": ("main.py", nested("print(", ")", 900, 20), False),
    "deep-rust": ("src/main.rs", nested("mod m { fn x() { println!() }", "}", 30_000), True),
    "deep-javascript": ("main.js", nested("console.log(", ")", 50_000), True),
    "flat-python": ("main.py", nested("print(1)", "", 200_000), False),
}  # fmt: skip
PACKAGES = {
    "go": {"go.mod": "module x\n"}, "rs": {"Cargo.toml": "[package]\nname = 'x'\n"},
    "js": {"package.json": '{"name":"x","bin":"main.js"}'}, "py": {},
}  # fmt: skip


def sources():
    for name, (file, text, skipped) in SOURCES.items():
        files = PACKAGES[file.split(".")[-1]] | {file: lambda path, text=text: path.write_text(text())}
        expect = Expect(ENDS, {"p2-src-stray-print": "unverified"} if skipped else {})
        # Each file has a budget of 10 s, or 50 s on a busy machine.
        yield program(f"source/{name}", "check --json --layer source", ".", expect=expect, files=files, deadline=70, memory=1 << 30)


CASES = [
    *links(),
    *plants(),
    *REACHES,
    *(check(f"uncopyable/{name}", "{work}/cli", Expect((0,), {"p2-exit-success": "pass"}), **rest) for name, rest in UNCOPYABLE.items()),
    dead_mount("whole", "{work}/../dead", Expect((0,), {"p2-exit-success": "pass"})),
    dead_mount("in-start-folder", "{work}/dead", Expect((0,), {"p2-exit-success": "pass"})),
    # If its folder cannot be mounted copy-on-write, a failed run is repeated in a copy.
    dead_mount("in-start-folder-failing", "{work}/dead", Expect(ENDS), cli="#!/bin/sh\nexit 1\n"),
    dead_mount("in-home", "{work}/../home/dead", Expect(ENDS)),
    dead_mount("in-tmp", "{work}/../tmp/dead", Expect(ENDS, leftovers=True)),
    *(
        dead_mount(f"signal-{label}", folder, Expect((0, 1, 143, -15), after=ended_soon), cli="#!/bin/sh\nsleep 1\n", act=terminate)
        for label, folder in {"in-start-folder": "{work}/dead", "elsewhere": "{work}/../dead"}.items()
    ),
    *manifests(),
    *locks(),
    *chains(),
    *sources(),
]  # fmt: skip
