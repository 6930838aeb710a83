#!/usr/bin/env python3
"""The hostile suite: targets, inputs, servers and surroundings that try to crash, hang or escape the programs.

    python3 xtask/hostile [--bin DIR] [--surroundings NAME] [--isolation KIND] [--quick] [PATTERN...]

Runs the cases in `cases/` with the built programs. Each case must end before its deadline with an expected exit code
and verdict, use at most 256 MiB by default, leave no process and no temporary folder, and print no raw control
character. Exits with 1 if a case fails. Needs Linux and Python 3.11.
"""

import argparse
import concurrent.futures
import multiprocessing
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import driver
import processes
import surroundings
from cases import ALL
from surroundings import SURROUNDINGS

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORLD = None


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pattern", nargs="*", help="run the cases whose names contain one of these")
    parser.add_argument("--bin", default=f"{ROOT}/target/debug", help="folder of the programs [default: target/debug]")
    parser.add_argument("--surroundings", default="here", choices=SURROUNDINGS, help="surroundings of the programs [default: here]")
    parser.add_argument("--isolation", default="auto", help="value of --isolation: none, landlock, auto [default: auto]")
    parser.add_argument("--quick", action="store_true", help="skip cases that take long or use many resources")
    parser.add_argument("--scale", type=float, default=1.0, help="factor for the size of large inputs [default: 1]")
    parser.add_argument("--jobs", type=int, default=2, help="number of parallel cases [default: 2]")
    parser.add_argument("--list", action="store_true", help="list the cases without running them")
    parser.add_argument("--verbose", action="store_true", help="show the output of each failed case")
    return parser.parse_args()


#: Cases that affect the started process itself. In other surroundings, that is the command that creates these.
CALLER_ONLY = ("environment/", "files/disk-full", "limit/", "signal-to-us/")


def selected(args):
    for case in ALL:
        matches = not args.pattern or any(pattern in case.name for pattern in args.pattern)
        # Cases without a target run do not depend on the confinement, so they run in the surroundings of the caller only.
        applies = args.surroundings == "here" or (
            case.live and not case.user and not case.name.startswith(CALLER_ONLY)
        )
        if matches and applies and not (args.quick and case.heavy):
            yield case


def base_folder(args):
    """Creates a folder that every user can read, with the files that all cases share, and returns its path."""
    base = pathlib.Path(tempfile.mkdtemp(prefix="hostile-"))
    base.chmod(0o755)
    os.mkdir(base / "bin")
    for name in ("agentnative", "reference-agent"):
        shutil.copy(pathlib.Path(args.bin, name), base / "bin" / name)
    shutil.copytree(ROOT / "fixtures/hostile", base / "targets")
    shutil.copy(ROOT / "xtask/hostile/container.py", base / "container.py")
    return base


def world(args, base):
    prefix = SURROUNDINGS[args.surroundings][1](base)
    if problem := surroundings.unavailable(prefix):
        sys.exit(f"hostile: the surroundings `{args.surroundings}` are not available: {problem}")
    level = "none"
    if args.surroundings != "no-proc":
        level = surroundings.level(base / "bin", prefix, args.isolation, base)
        if level is None:
            sys.exit(f"hostile: cannot determine the confinement of a check with --isolation {args.isolation}")
    return driver.World(
        base, str(base / "bin"), str(base / "targets"), prefix, args.surroundings, args.isolation, level, args.scale
    )


def initialize_worker(shared_world):
    global WORLD
    WORLD = shared_world
    processes.become_subreaper()
    # Lower priority, so that a target that exhausts the machine affects other processes less.
    os.nice(5)


def run_case(index):
    try:
        return driver.run(WORLD, ALL[index])
    except Exception as error:
        return driver.Result(ALL[index].name, [f"the suite failed: {error!r}"])


def run_all(args, shared_world):
    cases = [(ALL.index(case), case) for case in selected(args)]
    context = multiprocessing.get_context("fork")
    groups = [(args.jobs, [n for n, case in cases if not case.alone]), (1, [n for n, case in cases if case.alone])]
    for jobs, group in groups:
        with concurrent.futures.ProcessPoolExecutor(jobs, context, initialize_worker, (shared_world,)) as pool:
            yield from pool.map(run_case, group)


def show(args, result):
    if result.skipped:
        print(f"skip  {result.name}: {result.skipped}", flush=True)
        return
    code = "-" if result.code is None else result.code
    verdict = "FAIL" if result.wrong else "ok  "
    figures = f"exit {code!s:>4}  {result.seconds:5.1f} s  {result.memory >> 20:4} MiB"
    print(f"{verdict}  {figures}  {result.name}" + "".join(f"\n        {problem}" for problem in result.wrong), flush=True)
    if result.wrong and args.verbose:
        print("".join(f"        | {line}\n" for line in result.shown.splitlines()), end="", flush=True)


def main():
    args = arguments()
    if args.list:
        print("\n".join(case.name for case in selected(args)))
        return 0
    base = base_folder(args)
    try:
        shared_world = world(args, base)
        description = SURROUNDINGS[args.surroundings][0]
        print(f"hostile: {description}; --isolation {args.isolation}, effective level: {shared_world.level}", flush=True)
        started, results = time.monotonic(), []
        for result in run_all(args, shared_world):
            results.append(result)
            show(args, result)
    finally:
        subprocess.run(["rm", "-rf", base], check=False)
    failed = [result.name for result in results if result.wrong]
    skipped = sum(1 for result in results if result.skipped)
    peak = max((result.memory for result in results), default=0) >> 20
    elapsed = time.monotonic() - started
    print(f"{len(results)} cases, {skipped} skipped, {len(failed)} failed, at most {peak} MiB, {elapsed:.0f} s")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
