#!/usr/bin/env python3
"""Finds drift: records the newest versions of the agents in agents.toml, and validates the recordings.

    python3 xtask/agents/record.py --programs target/debug

The calls are those of examples/agents, the model is `reference-agent serve`. Each call runs in namespaces of its own: it
reaches no network, and leaves no process behind. The exit code is 1 if an agent drifted, and 2 if an agent could not be
recorded; the row of such an agent in docs/agents.md stays. Needs Linux with user namespaces, iproute2, npm and Python 3.12.
"""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
EXAMPLES = ROOT / "examples/agents"
PAGE = ROOT / "docs/agents.md"
NAMESPACES = "setpriv --pdeathsig KILL unshare --user --map-root-user --net --pid --fork --kill-child --mount-proc".split()
#: Seconds in which a scene ends, also with the retries of an agent on a busy machine.
LIMIT = 300
MARKER = re.compile(r"\[\[.+?\]\]")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default="target/debug", help="agentnative and reference-agent [default: target/debug]")
    parser.add_argument("--folder", default="target/agents", help="agents and recordings [default: target/agents]")
    parser.add_argument("--only", metavar="NAME", action="append", help="record this agent only (repeatable)")
    parser.add_argument("--no-install", action="store_true", help="use the agents that are in the folder")
    parser.add_argument("--replay", action="store_true", help="install and record nothing: judge the recordings in the folder")
    parser.add_argument("--jobs", type=int, default=2, help="number of parallel agents [default: 2]")
    args = parser.parse_args()
    args.no_install |= args.replay
    args.programs, args.folder = pathlib.Path(args.programs).resolve(), pathlib.Path(args.folder).resolve()
    return args


class Agent:
    """An agent with its configuration, its contracts, and the PATH of its program."""

    def __init__(self, args, name, package, registry="npm", endless=(), document=None):
        self.args, self.name, self.package, self.registry, self.endless = args, name, package, registry, endless
        self.config = tomllib.loads((EXAMPLES / f"{name}.toml").read_text())
        self.target, self.service = self.config["target"], self.config["service"][0]
        # The contract of the stream, and that of the document if the agent also prints one.
        names = [self.target["contract"], *([document] if document else [])]
        self.contracts = {name: tomllib.loads((ROOT / "contracts" / name / "contract.toml").read_text()) for name in names}
        self.contract = self.contracts[names[0]]
        self.place = args.folder / name
        node = args.folder / "node/node_modules/.bin"
        self.path = f"{self.place}/node_modules/.bin:{self.place}/bin:{node}:{os.environ['PATH']}"

    def install(self):
        """Installs the newest version. npm selects the versions that run with the Node on PATH."""
        if self.registry == "npm":
            npm(self.place, f"{self.package}@latest", self.path)
        else:
            run(sys.executable, "-m", "venv", self.place)
            run(self.place / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", self.package)

    def call(self, output, args, interruption=None):
        """Records the program in a new home folder. Returns its exit code, or nothing if it does not end in time."""
        exit_file = pathlib.Path(f"{output}.exit")
        if not self.args.replay:
            exit_file.write_text(json.dumps(self.run(output, args, interruption)))
        return json.loads(exit_file.read_text())

    def run(self, output, args, interruption):
        with tempfile.TemporaryDirectory() as folder:
            for place, file in self.target.get("home", {}).items():
                file = (EXAMPLES / file).read_text().replace("{port}", "8080")
                path = pathlib.Path(folder, "home", place)
                path.parent.mkdir(parents=True)
                path.write_text(file)
            for name in ("home", "work", "tmp"):
                pathlib.Path(folder, name).mkdir(exist_ok=True)
            env = {"PATH": self.path, "HOME": f"{folder}/home", "TMPDIR": f"{folder}/tmp", "LANG": "C.UTF-8"}
            env |= self.contract["program"].get("env", {}) | self.target.get("env", {})
            env |= {key: value.replace("{port}", "8080") for key, value in self.service.get("env", {}).items()}
            scene = {
                "server": f"{self.args.programs}/reference-agent", "argv": self.target["command"] + args, "env": env,
                "folder": f"{folder}/work", "output": str(output), "interruption": interruption,
            }
            command = [*NAMESPACES, sys.executable, HERE / "scene.py", json.dumps(scene)]
            try:
                process = subprocess.run(
                    command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=LIMIT, check=True
                )
            except subprocess.TimeoutExpired:
                return None
            return int(process.stdout)

    def version(self):
        output = self.args.folder / self.name
        self.call(output, ["--version"])
        printed = "".join(output.with_suffix(end).read_text() for end in (".stdout", ".stderr"))
        if found := re.search(r"\d+\.\d+\.\d+(-[\w.]*\w)?", printed):
            return found[0]
        raise RuntimeError(f"`--version` prints no version: {printed[:500]}")


class Scene:
    """A recorded scene: the conditions and findings of the contract that apply, and what drifted."""

    def __init__(self, agent, version, scene, probe, contract):
        self.agent, self.name, self.scene = agent, scene["name"], scene
        self.specification, self.contract = ROOT / "contracts" / contract, agent.contracts[contract]
        self.output = agent.args.folder / "recordings" / f"{agent.name}-{version}-{self.name}"
        self.findings, self.conditions, self.drift = [], [], []
        args = probe["args"]
        if marker := scene.get("marker"):
            args = [MARKER.sub(f"[[{marker}]]", arg) for arg in args]
        self.exit = agent.call(self.output, args + self.contract["ask"], scene.get("signal"))
        self.stdout = pathlib.Path(f"{self.output}.stdout")
        if self.exit is None and self.name in agent.endless:
            self.findings.append("endless")
            return
        if self.exit is None:
            self.add_drift(f"does not end within {LIMIT} seconds")
            return
        expected = probe.get("exit", 0)
        if not marker and self.exit != expected:
            self.add_drift(f"exits with {self.exit}, expected {expected}")
        self.validate()
        self.judge_outcome()

    def add_drift(self, message, line=None):
        data = self.stdout.read_bytes()
        self.drift.append((data.splitlines()[line - 1] if line else data, f"{self.name}: {message}", line))

    def agentnative(self, command, *options):
        """Calls `agentnative` with the recording."""
        program = [self.agent.args.programs / "agentnative", command, "--json", "--exit-code", str(self.exit), *options]
        process = subprocess.run([*program, "--stderr", f"{self.output}.stderr", self.stdout], capture_output=True)
        return json.loads(process.stdout or process.stderr)

    def validate(self):
        """Finds the condition that holds. One that has to be declared can hold only if the agent received a signal."""
        contract = ["--contract", self.specification]
        conditions = [each for each in self.contract["condition"] if "signal" in self.scene or not each.get("declared")]
        for condition in conditions:
            report = self.agentnative("validate", *contract, "--condition", condition["name"])["data"]["files"][0]
            if report["valid"]:
                self.conditions.append(condition["name"])
                break
        else:
            report = self.agentnative("validate", *contract)["data"]["files"][0]
            rules = {rule["id"]: rule["what"] for rule in self.contract.get("rule", [])}
            for error in report["errors"]:
                message = error["message"].removesuffix(f": {rules.get(error['rule'])}")
                self.add_drift(f"{message} (rule `{error['rule']}`)" if error["rule"] else message, error["line"])
        for kind, count in report["unknown_types"].items():
            self.add_drift(f"unknown event `{kind}` ({count})")
        self.findings = sorted({known["finding"]["id"] for known in report.get("known", [])})

    def judge_outcome(self):
        """Compares the outcome with the expected one. A known finding can explain another one."""
        if not self.stdout.stat().st_size:
            return
        outcome = self.agentnative("outcome")
        if "data" not in outcome:
            self.add_drift(f"outcome: {outcome['message']}")
        elif not self.findings and outcome["data"]["success"] != self.scene.get("success", outcome["data"]["success"]):
            self.add_drift(f"outcome: success is {json.dumps(outcome['data']['success'])}")


def run(*command, **options):
    subprocess.run([str(word) for word in command], check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr, **options)


def npm(folder, package, path):
    folder.mkdir(parents=True, exist_ok=True)
    command = ["npm", "install", "--prefix", folder, "--silent", "--no-audit", "--no-fund", package]
    run(*command, env=os.environ | {"PATH": path})


def record(args, scenes, entry):
    """Records an agent. Returns its row of the page, and what drifted."""
    agent = Agent(args, **entry)
    if not args.no_install:
        agent.install()
    version = agent.version()
    probes = {probe["name"]: probe for probe in agent.config["probe"]}
    recorded = []
    for scene in scenes:
        contracts = list(agent.contracts)[1:] if scene.get("document") else [agent.target["contract"]]
        for contract in contracts if scene["probe"] in probes else []:
            recorded.append(Scene(agent, version, scene, probes[scene["probe"]], contract))
            last = recorded[-1]
            found = [str(last.exit), *last.conditions, *last.findings, *(message for _, message, _ in last.drift)]
            print(agent.name, version, last.name, *found, sep="\t", flush=True)
    date = datetime.date.fromtimestamp(recorded[0].stdout.stat().st_mtime)
    contract = ", ".join(f"`{name}` {contract['version']}" for name, contract in agent.contracts.items())
    cells = [f"`{agent.package}`", version, str(date), contract]
    cells += [where(recorded, "conditions"), where(recorded, "findings")]
    drift = [(*found, scene.stdout) for scene in recorded for found in scene.drift]
    cells.append("; ".join(scene.drift[0][1] for scene in recorded if scene.drift))
    return "| " + " | ".join(cell.replace("|", "\\|") or "–" for cell in [agent.name, *cells]) + " |", drift


def where(recorded, key):
    """Lists conditions or findings, each with the scenes in which it holds."""
    scenes = {}
    for scene in recorded:
        for name in getattr(scene, key):
            scenes.setdefault(name, []).append(scene.name)
    return "; ".join(f"`{name}` ({', '.join(names)})" for name, names in scenes.items())


def write_page(names, rows):
    """Writes rows into the table of the page. Rows of other agents stay."""
    head, table = re.fullmatch(r"(.*?\n\|---.*?\n)(.*)", PAGE.read_text(), re.DOTALL).groups()
    rows = {line.split()[1]: line for line in table.splitlines()} | rows
    PAGE.write_text(head + "".join(f"{rows[name]}\n" for name in names if name in rows))


def main():
    args = arguments()
    table = tomllib.loads((HERE / "agents.toml").read_text())
    names = [entry["name"] for entry in table["agent"]]
    if unknown := set(args.only or []) - set(names):
        sys.exit(f"record.py: agents.toml has no {', '.join(sorted(unknown))}")
    (args.folder / "recordings").mkdir(parents=True, exist_ok=True)
    if not args.no_install:
        npm(args.folder / "node", "node@24", os.environ["PATH"])
    rows, drift, code = {}, [], 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        entries = [entry for entry in table["agent"] if entry["name"] in (args.only or names)]
        tasks = {pool.submit(record, args, table["scene"], entry): entry["name"] for entry in entries}
        for task in concurrent.futures.as_completed(tasks):
            name = tasks[task]
            try:
                rows[name], drifted = task.result()
                drift += drifted
            except (OSError, RuntimeError, ValueError, subprocess.SubprocessError) as error:
                print(f"record.py: {name} was not recorded: {error}", file=sys.stderr)
                code = 2
            write_page(names, rows)
    if drift:
        data, message, line, file = min(drift, key=lambda found: len(found[0]))
        place = f"{file}:{line}" if line else file
        print(f"record.py: the smallest record that drifted: {place}: {message}", file=sys.stderr)
        print(data[:2000].decode(errors="replace"), file=sys.stderr)
        code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
