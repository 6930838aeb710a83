#!/usr/bin/env python3
"""Measures exploration: explores the tools in tools.toml and writes a table of their reports.

    python3 xtask/explore/measure.py --install DIR --agentnative target/release/agentnative

Each tool is checked twice in a copy of its sample workspace: without a configuration ("today"), and with --explore.
The table is written after each tool, as Markdown and JSON. Needs Linux, Python 3.11, Node 20, git and, to install
packages of Debian, root.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
#: The headings of the table, with the keys of a row.
COLUMNS = {
    "tool": "tool", "MUSTs": "applicable", "decided today": "today", "decided": "decided", "failed": "failed",
    "warned": "warned", "commands": "commands", "called": "called", "calls": "calls", "runs": "runs", "seconds": "seconds",
    "CPU seconds": "cpu", "exit code": "exit",
}
PERCENT = ("today", "decided", "called")
GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "Sample Author", "GIT_AUTHOR_EMAIL": "author@example.com", "GIT_AUTHOR_DATE": "2025-01-05T10:00:00Z",
    "GIT_COMMITTER_NAME": "Sample Author", "GIT_COMMITTER_EMAIL": "author@example.com",
    "GIT_COMMITTER_DATE": "2025-01-05T10:00:00Z",
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("option", nargs="*", help="after `--`: options of the explored check, such as --jobs 8")
    parser.add_argument("--agentnative", default="target/debug/agentnative", help="the program [default: target/debug/agentnative]")
    parser.add_argument("--install", metavar="DIR", help="use the tools in DIR; missing ones are installed there, or by apt-get")
    parser.add_argument("--install-only", action="store_true", help="install, and measure nothing")
    parser.add_argument("--only", metavar="NAME", action="append", help="measure this command only (repeatable)")
    parser.add_argument("--explored-only", action="store_true", help="leave out the check without --explore")
    parser.add_argument("--jobs", type=int, default=1, help="number of parallel tools; wall times are meaningful with 1 [default: 1]")
    parser.add_argument("--timeout", type=int, default=600, help="seconds for one check [default: 600]")
    parser.add_argument("--keep", metavar="DIR", help="keep each report, its recording and its stderr in DIR")
    parser.add_argument("--output", metavar="DIR", default="target/explore", help="folder of the table [default: target/explore]")
    return parser.parse_args()


def run(*command, **options):
    subprocess.run([str(word) for word in command], check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr, **options)


def install(tool, folder):
    """Installs a tool if it is missing; the folder of its command comes first on the PATH of the result."""
    command, version = tool["command"], tool["version"]
    package = {"npm": "{}@{}", "pypi": "{}=={}", "debian": "{}={}"}[tool["registry"]].format(tool["package"], version)
    place = pathlib.Path(folder or ".").resolve() / f"{command}-{version}"
    binaries = place / {"npm": "node_modules/.bin", "pypi": "bin", "debian": "."}[tool["registry"]]
    path = f"{binaries}:{os.environ['PATH']}" if folder else os.environ["PATH"]
    if folder and not shutil.which(command, path=path):
        if tool["registry"] == "npm":
            place.mkdir(parents=True, exist_ok=True)
            run("npm", "install", "--prefix", place, "--ignore-scripts", "--no-audit", "--no-fund", package)
            # The scripts of the tool alone. lefthook's would install hooks in a repository around the folder.
            run("npm", "rebuild", "--prefix", place, tool["package"], cwd=place, env=os.environ | {"CI": "true"})
        elif tool["registry"] == "pypi":
            run(sys.executable, "-m", "venv", place)
            run(place / "bin/pip", "install", "--quiet", "--disable-pip-version-check", package)
        else:
            environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
            run("apt-get", "install", "--yes", "--no-install-recommends", package, env=environment)
    if not shutil.which(command, path=path):
        sys.exit(f"measure.py: {command} is not installed: pass --install DIR")
    return path


def sample(name, folder):
    """Copies a sample workspace, and makes what cannot be committed: a repository, and the databases of SQL files."""
    place = pathlib.Path(shutil.copytree(HERE / "workspaces" / name, folder / "sample"))
    for script in place.glob("*.sql"):
        database = sqlite3.connect(script.with_suffix(".db"))
        database.executescript(script.read_text())
        database.close()
    if name == "git-repository":
        for words in (
            ["init", "--quiet", "--initial-branch=main"],
            ["remote", "add", "origin", "https://github.com/example/greeter.git"],
            ["add", "--all", "--", ".", ":!notes.txt"],
            ["commit", "--quiet", "--message=Greets the world"],
            ["tag", "v0.1.0"],
            ["branch", "next"],
        ):
            run("git", "-C", place, *words, env=os.environ | GIT)
    return place


def check(args, tool, path, kind, *options):
    """Checks a tool; returns its exit code and times, and its report if there is one."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if kind == "explored":
            options = ["--explore", "--workspace", sample(tool["workspace"], folder), "--record", folder / "recording.json", *options]
        program = pathlib.Path(args.agentnative).resolve()
        command = ["timeout", "--kill-after=20", args.timeout, program, "check", *options]
        command += ["--command", tool["command"], "--output", "json"]
        (folder / "start").mkdir()
        start = time.monotonic()
        with open(folder / "report.json", "wb") as stdout, open(folder / "stderr.txt", "wb") as stderr:
            process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                cwd=folder / "start", env=os.environ | {"PATH": path},
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        figures = {"exit": process.returncode, "seconds": time.monotonic() - start, "cpu": usage.ru_utime + usage.ru_stime}
        if args.keep:
            pathlib.Path(args.keep).mkdir(parents=True, exist_ok=True)
            for file in ("report.json", "recording.json", "stderr.txt"):
                if (folder / file).exists():
                    shutil.copy(folder / file, pathlib.Path(args.keep) / f"{tool['command']}.{kind}.{file}")
        try:
            return figures, json.loads((folder / "report.json").read_bytes())["data"]
        except (ValueError, KeyError):
            return figures, None


def musts(report):
    """The applicable MUST checks of a report, and how many percent of them are decided."""
    statuses = [result["status"] for result in report["results"] if result["level"] == "must"]
    decided = statuses.count("pass") + statuses.count("fail")
    applicable = decided + statuses.count("unverified")
    return applicable, 100 * decided / max(applicable, 1)


def problems(report, program):
    """The checks that failed or warned, each with the shortest call that shows it, without the folder of the program."""
    for result in report["results"]:
        if result["status"] in ("fail", "warn"):
            calls = [evidence for evidence in result["evidence"] if evidence.get("argv")]
            shortest = min(calls, key=lambda evidence: len(evidence["argv"]), default={})
            yield {
                "check": result["id"], "status": result["status"], "message": result["message"],
                "argv": shortest.get("argv", "").replace(program, pathlib.Path(program).name, 1),
                "detail": shortest.get("detail"), "excerpt": shortest.get("excerpt"),
            }


def measure(args, tool, path):
    row = {"tool": tool["command"], "package": f"{tool['package']} {tool['version']}", "problems": []}
    if not args.explored_only:
        _, report = check(args, tool, path, "today")
        row["today"] = musts(report)[1] if report else None
    figures, report = check(args, tool, path, "explored", *args.option)
    row |= figures
    if report:
        row["applicable"], row["decided"] = musts(report)
        row["problems"] = list(problems(report, shutil.which(tool["command"], path=path)))
        row["failed"] = sum(problem["status"] == "fail" for problem in row["problems"])
        row["warned"] = len(row["problems"]) - row["failed"]
        row["runs"] = report["runs"]
        if coverage := report.get("coverage"):
            commands = coverage["commands"]
            row["commands"] = commands["found"] - commands["unknown"]
            row["called"] = 100 * commands["called"] / max(row["commands"], 1)
            row["calls"] = coverage["calls"]["made"]
            row["incomplete"] = coverage.get("incomplete")
    return row


def cell(key, value):
    if value is None:
        return "–"
    return f"{value:.0f} %" if key in PERCENT else f"{value:.0f}" if isinstance(value, float) else str(value)


def markdown(rows, summary):
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    for row in [*rows, *summary]:
        lines.append("| " + " | ".join(cell(key, row.get(key)) for key in COLUMNS.values()) + " |")
    for row in rows:
        lines += ["", f"## {row['tool']} ({row['package']})", ""]
        if row.get("incomplete"):
            lines.append(f"- incomplete: {row['incomplete']}")
        for problem in row["problems"]:
            call = f": `{problem['argv']}`" if problem["argv"] else ""
            lines.append(f"- {problem['status']} {problem['check']}: {problem['message']}{call}")
    return "\n".join(lines) + "\n"


def write(args, rows):
    summary = []
    for name, figure in (("median", statistics.median), ("minimum", min), ("maximum", max)):
        row = {"tool": f"**{name}**"}
        for key in COLUMNS.values():
            values = [each[key] for each in rows if isinstance(each.get(key), (int, float))]
            if values and key != "exit":
                row[key] = figure(values)
        summary.append(row)
    output = pathlib.Path(args.output)
    output.mkdir(parents=True, exist_ok=True)
    (output / "table.md").write_text(markdown(rows, summary))
    (output / "table.json").write_text(json.dumps({"tools": rows, "summary": summary}, indent=2) + "\n")


def main():
    args = arguments()
    tools = tomllib.loads((HERE / "tools.toml").read_text())["tool"]
    if args.only:
        if unknown := set(args.only) - {tool["command"] for tool in tools}:
            sys.exit(f"measure.py: tools.toml has no {', '.join(sorted(unknown))}")
        tools = [tool for tool in tools if tool["command"] in args.only]
    paths = [install(tool, args.install) for tool in tools]
    if args.install_only:
        return
    rows = []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for row in pool.map(lambda tool, path: measure(args, tool, path), tools, paths):
            rows.append(row)
            write(args, rows)
            print(*(cell(key, row.get(key)) for key in COLUMNS.values()), sep="\t", flush=True)


if __name__ == "__main__":
    main()
