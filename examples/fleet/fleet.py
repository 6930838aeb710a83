#!/usr/bin/env python3
"""Checks many command-line tools, or validates folders of recordings, on a Ray cluster.

    pip install "ray[data]"
    python fleet.py check tools --parts 20 --out reports
    python fleet.py validate recordings --contract list.schema.json --out summary.json

`agentnative` and the files have to be on each machine under the same path: a shared file system, or an image. The
variable AGENTNATIVE names the program if it is not on PATH. A task whose worker is lost is made again by Ray.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import ray

PROGRAM = os.environ.get("AGENTNATIVE", "agentnative")
# The files that are validated by one call.
BATCH = 200
SUFFIXES = tuple(f"{kind}{packed}" for kind in (".json", ".jsonl", ".ndjson") for packed in ("", ".gz", ".zst"))


class Interrupted(Exception):
    """A call was ended by a signal: what it gave is not complete."""


def call(arguments, folder, stdin=None):
    """Calls the program. Exit code 1 stands for findings, which are a result."""
    done = subprocess.run([PROGRAM, *arguments], cwd=folder, input=stdin, capture_output=True, text=True)
    if done.returncode < 0 or done.returncode > 128:
        raise Interrupted(f"{PROGRAM} was ended by a signal")
    return done


@ray.remote(max_retries=5, retry_exceptions=[Interrupted])
def check_part(paths, part, parts, options, folder):
    """The report of one part."""
    with tempfile.TemporaryDirectory() as own:
        report = Path(own, "report.json")
        partition = ["--partition", f"{part}/{parts}", "--report", f"json={report}"]
        done = call(["check", "--all", *paths, *partition, "--quiet", *options], folder)
        if not report.exists():
            raise RuntimeError(done.stderr.strip())
        return report.read_text()


def check(args):
    """Each part is a task; what becomes of them is one report."""
    out = Path(args.out)
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("part-*.json"):
        old.unlink()
    parts = range(1, args.parts + 1)
    tasks = {check_part.remote(args.paths, part, args.parts, args.option, os.getcwd()): part for part in parts}
    waiting = list(tasks)
    while waiting:
        (task,), waiting = ray.wait(waiting)
        part = tasks[task]
        try:
            Path(out, f"part-{part}.json").write_text(ray.get(task))
            print(f"part {part}/{args.parts} is there, {len(waiting)} to come", file=sys.stderr)
        except ray.exceptions.RayError as error:
            print(f"part {part}/{args.parts} failed: {error}", file=sys.stderr)
    # It names parts that are missing, and refuses one that comes twice.
    files = sorted(str(path) for path in out.glob("part-*.json"))
    if not files:
        return 1
    merged = ["report", "merge", *files, "--report", f"json={out / 'fleet.json'}"]
    return subprocess.run([PROGRAM, *merged], check=False).returncode


def validate_batch(batch, contract, folder):
    """What became of each of these files."""
    paths = list(batch["path"])
    arguments = ["validate", "--json", "--contract", contract, "--jobs", "1", "--max-errors", "1"]
    done = call([*arguments, "--files-from", "-"], folder, "\0".join(paths) + "\0")
    if not done.stdout:
        raise RuntimeError(done.stderr.strip())
    data = json.loads(done.stdout)["data"]
    files = {file["file"]: file for file in data["files"]}
    unreadable = {file["file"]: file["message"] for file in data["unreadable"]}
    told = [files.get(path, {}) for path in paths]
    error = [next((error["message"] for error in file.get("errors", [])), "") for file in told]
    return {
        "path": paths,
        "valid": [bool(file.get("valid")) for file in told],
        "records": [file.get("records", 0) for file in told],
        "error": [message or unreadable.get(path, "") for path, message in zip(paths, error)],
    }


def validate(args):
    """Files are validated in batches; the summary has each file once."""
    found = set()
    for path in map(Path, args.paths):
        below = path.rglob("*") if path.is_dir() else [path]
        found.update(str(file) for file in below if file.is_file() and file.name.endswith(SUFFIXES))
    rows = ray.data.from_items([{"path": path} for path in sorted(found)])
    rows = rows.repartition(max(1, -(-len(found) // BATCH)))
    keywords = {"contract": args.contract, "folder": os.getcwd()}
    rows = rows.map_batches(validate_batch, batch_size=BATCH, fn_kwargs=keywords)
    files = sorted(rows.take_all(), key=lambda row: row["path"])
    assert [file["path"] for file in files] == sorted(found)
    invalid = [file for file in files if not file["valid"]]
    summary = {
        "files": len(files),
        "records": sum(int(file["records"]) for file in files),
        "invalid": [{"file": file["path"], "error": file["error"]} for file in invalid],
    }
    Path(args.out).write_text(json.dumps(summary, indent=2) + "\n")
    print(f"{len(files)} files, {summary['records']} records, {len(invalid)} files invalid or unreadable")
    return int(bool(invalid))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--address", default="auto", help="the cluster; `local` starts one on this machine")
    commands = parser.add_subparsers(required=True)
    checking = commands.add_parser("check", help="check the targets of configurations")
    checking.add_argument("--parts", type=int, default=10, help="number of tasks; a few for each machine")
    checking.add_argument("--out", default="reports", help="folder for the reports of the parts and of all")
    checking.add_argument("--option", action="append", default=[], help="option of `agentnative check`, as --option=--fast")
    checking.set_defaults(run=check)
    validating = commands.add_parser("validate", help="validate JSON documents and JSON Lines")
    validating.add_argument("--contract", required=True)
    validating.add_argument("--out", default="summary.json", help="file for the summary")
    validating.set_defaults(run=validate)
    for command in (checking, validating):
        command.add_argument("paths", nargs="+", metavar="PATH")
    args = parser.parse_args()
    ray.init(address=args.address, log_to_driver=False)
    return args.run(args)


if __name__ == "__main__":
    sys.exit(main())
