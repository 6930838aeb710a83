#!/usr/bin/env bash
# Installs the wheel for this machine into a new virtual environment, and checks the example with its program and with
# `python -m agentnative`. Run wheel.sh first.
set -euo pipefail
source "$(dirname "$0")/common.sh"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet --disable-pip-version-check --no-index --find-links "$out/release" \
    "agentnative-check==$version"
try_program "$folder/python/bin/agentnative"
try_program "$folder/python/bin/python" -m agentnative
echo "the wheel works"
