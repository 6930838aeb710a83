#!/usr/bin/env python3
"""Runs the steps of action.yml and the job of the GitLab template as GitHub and GitLab do, with PROGRAM as the release.
Writes the documents of the template to FOLDER as JSON, for validation with their schema.

    packages/try_ci.py PROGRAM FOLDER"""

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parent.parent
VERSION = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def release(program, folder):
    """Creates a release of this version, and returns the URL of all releases."""
    name = f"agentnative-{VERSION}-{platform.machine()}-unknown-linux-musl"
    assets = folder / "releases" / f"v{VERSION}"
    assets.mkdir(parents=True)
    with tarfile.open(assets / f"{name}.tar.gz", "w:gz", compresslevel=1) as archive:
        archive.add(program, f"{name}/agentnative")
    digest = hashlib.sha256((assets / f"{name}.tar.gz").read_bytes()).hexdigest()
    (assets / "SHA256SUMS").write_text(f"{digest}  {name}.tar.gz\n")
    return f"file://{folder}/releases"


def action(program, folder):
    action = YAML(typ="safe").load(ROOT / "action.yml")
    values = {f"inputs.{name}": spec["default"] for name, spec in action["inputs"].items()}
    values["inputs.path"] = str(ROOT / "examples/notes")
    values["inputs.comment"] = "true"
    values["inputs.report"] = "sarif=agentnative.sarif\nmarkdown=agentnative.md"
    releases = release(program, folder)

    def value(expression):
        """Returns the value of an expression. The one with the repository of the action is replaced by `releases`."""
        expression = expression.group(1).strip()
        return releases if "github.action_repository" in expression else values.get(expression, "")

    def fill(text):
        return re.sub(r"\$\{\{(.*?)\}\}", value, text)

    environment = {**os.environ, "RUNNER_TEMP": str(folder), "GITHUB_ACTION_PATH": str(ROOT)}
    work, tools = folder / "work", folder / "action-tools"
    work.mkdir()
    tools.mkdir()
    (folder / "event").write_text('{"pull_request": {"number": 7}}')
    environment |= {"GITHUB_REPOSITORY": "owner/notes", "GITHUB_EVENT_PATH": str(folder / "event")}
    environment["PATH"] = f"{tools}:{environment['PATH']}"
    # Replaces gh: the pull request has the comment 12 of an earlier run.
    (tools / "gh").write_text(f'#!/bin/sh\necho "$@" >>{work}/gh\ncase "$2" in --paginate) echo 12 ;; esac\n')
    (tools / "gh").chmod(0o755)
    for step in action["runs"]["steps"]:
        if "build" in step.get("if", ""):
            continue
        assert "${{" not in step["run"], "an expression in a script allows injection"
        output = folder / "output"
        output.write_text("")
        environment |= {name: fill(text) for name, text in step["env"].items()}
        environment |= {"GITHUB_OUTPUT": str(output), "GITHUB_PATH": str(folder / "path")}
        status = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", step["run"]], cwd=work, env=environment).returncode
        for line in output.read_text().splitlines():
            name, _, text = line.partition("=")
            values[f"steps.{step['id']}.outputs.{name}"] = text
    outputs = {name: fill(spec["value"]) for name, spec in action["outputs"].items()}
    assert status == 1 and outputs["exit-code"] == "1", (status, outputs)
    assert json.loads(Path(outputs["report"]).read_text())["data"]["conformant"] is False
    assert json.loads((work / "agentnative.sarif").read_text())["version"] == "2.1.0"
    assert (work / "agentnative.md").read_text().startswith("#")
    listed, updated = (work / "gh").read_text().splitlines()
    assert "repos/owner/notes/issues/7/comments" in listed, listed
    assert "PATCH repos/owner/notes/issues/comments/12 -F body=@" in updated, updated
    comment = Path(updated.rpartition("@")[2]).read_text()
    assert comment.startswith("<!-- agentnative ") and "\n## agentnative" in comment, comment


def gitlab(program, folder):
    header, job = YAML(typ="safe").load_all(ROOT / "templates/agentnative.yml")
    defaults = {name: spec["default"] for name, spec in header["spec"]["inputs"].items()}
    inputs = {name: json.dumps(value) if isinstance(value, bool) else value for name, value in defaults.items()}
    inputs |= {"version": VERSION, "path": str(ROOT / "examples/notes"), "args": "--check\np2-output-pure,p2-output-json"}
    # GitLab interpolates the parsed YAML, not the text.
    def fill(tree):
        if isinstance(tree, dict):
            return {fill(key): fill(value) for key, value in tree.items()}
        if isinstance(tree, list):
            return [fill(value) for value in tree]
        return re.sub(r"\$\[\[ inputs\.(\w+) \]\]", lambda name: inputs[name[1]], tree) if isinstance(tree, str) else tree

    job = fill(job)
    (folder / "gitlab-header.json").write_text(json.dumps(header))
    (folder / "gitlab-job.json").write_text(json.dumps(job))
    (job,) = job.values()
    work, tools = folder / "gitlab", folder / "tools"
    work.mkdir()
    tools.mkdir()
    # Replaces npm, which the default value of `install` calls.
    (tools / "npm").write_text(f'#!/bin/sh\necho "$@" >installed\nln -s {program} {tools}/agentnative\n')
    (tools / "npm").chmod(0o755)
    environment = {"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(work), **job["variables"]}
    status = subprocess.run(["sh", "-e", "-c", "\n".join(job["script"])], cwd=work, env=environment).returncode
    assert status == 1, status
    assert (work / "installed").read_text().split()[-1] == f"agentnative-check@{VERSION}"
    reports = job["artifacts"]["reports"]
    findings = json.loads((work / reports["codequality"]).read_text())
    assert {finding["check_name"] for finding in findings} == {"p2-output-pure"}, findings
    assert "<testsuite" in (work / reports["junit"]).read_text()


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: packages/try_ci.py PROGRAM FOLDER")
    program, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    action(program, folder)
    gitlab(program, folder)


if __name__ == "__main__":
    main()
