#!/usr/bin/env python3
"""Builds the npm packages: `agentnative-check`, with the program's launcher and the library for tests, and one package per
platform with the program. npm installs only the platform package whose `os` and `cpu` match the machine.

    packages/npm.py BINARIES OUT

BINARIES contains `TARGET/agentnative`, built by `packages/binary.sh`. The tarballs are written to OUT."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Static programs need no C library, so the packages have no `libc` field.
PLATFORMS = {
    "x86_64-unknown-linux-musl": ("linux", "x64"),
    "aarch64-unknown-linux-musl": ("linux", "arm64"),
}
LICENSES = ["LICENSE-MIT", "LICENSE-APACHE"]
NAME = "agentnative-check"


def crate():
    command = ["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"]
    metadata = json.loads(subprocess.check_output(command, cwd=ROOT))
    return next(package for package in metadata["packages"] if package["name"] == NAME)


def common(crate):
    """Returns the fields of all packages. npm requires that the repository is the one of the publishing workflow."""
    common = {"version": crate["version"], "license": crate["license"]}
    if repository := os.environ.get("GITHUB_REPOSITORY"):
        common["repository"] = {"type": "git", "url": f"git+https://github.com/{repository}.git"}
    return common


def pack(manifest, files, out):
    """Packs `files`, by name in the package, together with the licenses."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "package.json").write_text(json.dumps(manifest, indent=2) + "\n")
        for name, path in {**files, **{name: ROOT / name for name in LICENSES}}.items():
            shutil.copy(path, folder / name)
        command = ["npm", "pack", "--silent", "--pack-destination", str(Path(out).resolve())]
        tarball = subprocess.check_output(command, cwd=folder, text=True).strip()
    print(Path(out) / tarball)


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: packages/npm.py BINARIES OUT")
    binaries, out = map(Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    package = crate()
    platforms = {}
    for target, (system, cpu) in PLATFORMS.items():
        binary = binaries / target / "agentnative"
        if not binary.exists():
            sys.exit(f"{binary} is missing; run packages/binary.sh {target}")
        name = f"{NAME}-{system}-{cpu}"
        platforms[name] = package["version"]
        manifest = {
            "name": name,
            **common(package),
            "description": f"The program of agentnative for {system} {cpu}",
            "os": [system],
            "cpu": [cpu],
        }
        pack(manifest, {"agentnative": binary}, out)
    sources = ROOT / "packages/npm"
    manifest = json.loads((sources / "package.json").read_text())
    files = {name: sources / name for name in manifest["files"]}
    manifest |= {**common(package), "files": [*files, *LICENSES], "optionalDependencies": platforms}
    pack(manifest, {**files, "README.md": ROOT / "README.md"}, out)


if __name__ == "__main__":
    main()
