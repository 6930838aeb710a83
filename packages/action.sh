#!/usr/bin/env bash
# The steps of action.yml: `find` installs the program from a release, if one exists; otherwise `build` builds it;
# `check` runs it. Inputs are environment variables, `INPUT_*`, and are never part of a shell command.
set -euo pipefail

action=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$RUNNER_TEMP/agentnative

fail() {
    echo "::error title=agentnative::$*"
    exit 1
}

output() {
    echo "$1=$2" >>"$GITHUB_OUTPUT"
}

# Prints the version in the Cargo.toml of these sources.
source_version() {
    sed -n '/^\[workspace\.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' "$action/Cargo.toml"
}

# Downloads a file of a release: URL FILE. Returns 1 if the release does not contain the file.
download() {
    local code status=0
    code=$(curl --silent --show-error --fail --location --proto '=https,file' --retry 3 --output "$2" \
        --write-out '%{http_code}' "$1") || status=$?
    case $status:$code in
    0:*) ;;
    22:404 | 37:*) return 1 ;;
    *) fail "cannot download $1: curl exits with $status (HTTP status $code)" ;;
    esac
}

find_program() {
    local version=${INPUT_VERSION:-$(source_version)} target base archive
    version=${version#v}
    [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] ||
        fail "input version: expected a version such as 0.1.0, found '$version'"
    case $(uname -sm) in
    "Linux x86_64") target=x86_64-unknown-linux-musl ;;
    "Linux aarch64") target=aarch64-unknown-linux-musl ;;
    *) fail "agentnative needs Linux on x86-64 or arm64; this runner is $(uname -sm)" ;;
    esac
    mkdir -p "$folder/bin"
    echo "$folder/bin" >>"$GITHUB_PATH"
    output program "$folder/bin/agentnative"

    base=${RELEASES:+$RELEASES/v$version}
    archive=agentnative-$version-$target.tar.gz
    if [ -n "$base" ] && download "$base/$archive" "$folder/$archive"; then
        download "$base/SHA256SUMS" "$folder/SHA256SUMS" || fail "the release of version $version has no SHA256SUMS"
        (cd "$folder" && grep -F "  $archive" SHA256SUMS | sha256sum --check --strict --quiet) ||
            fail "the checksum of $archive differs from the one in SHA256SUMS"
        tar --extract --gzip --file "$folder/$archive" --directory "$folder/bin" --strip-components 1 \
            "${archive%.tar.gz}/agentnative"
        echo "installed agentnative $version for $target from its release"
    elif [ "$version" = "$(source_version)" ]; then
        echo "building agentnative $version: there is no release for $target"
        output build true
        output key "agentnative-$version-$target-${ImageOS:-linux}-$(sources)"
    else
        fail "there is no release of version $version for $target, and the sources of this action are version $(source_version)"
    fi
}

# Prints a digest of the sources of the program.
sources() {
    cd "$action"
    find Cargo.toml Cargo.lock src checks contracts crates -type f -print0 |
        LC_ALL=C sort --zero-terminated | xargs -0 sha256sum | sha256sum | cut -c 1-32
}

build() {
    command -v cargo >/dev/null || fail "cargo is not installed on this runner; it is needed to build agentnative"
    cargo install --locked --path "$action" --root "$folder" --force
}

# Posts the Markdown report on the pull request of the workflow, if there is one. Replaces the comment of an earlier run
# for the same path.
comment() {
    local number marker id comments=repos/$GITHUB_REPOSITORY/issues
    number=$(jq --raw-output '.pull_request.number // empty' "$GITHUB_EVENT_PATH") || return
    [ -n "$number" ] || return 0
    marker="<!-- agentnative $(cksum <<<"$INPUT_PATH" | tr ' ' -) -->"
    { echo "$marker" && cat "$folder/comment.md"; } >"$folder/comment.body.md"
    id=$(gh api --paginate "$comments/$number/comments" \
        --jq ".[] | select(.body | startswith(\"$marker\")) | .id" | head -n 1) || return
    if [ -n "$id" ]; then
        gh api --silent --method PATCH "$comments/comments/$id" -F "body=@$folder/comment.body.md"
    else
        gh api --silent "$comments/$number/comments" -F "body=@$folder/comment.body.md"
    fi
}

check() {
    local arguments=(check) line status=0
    rm -f "$folder/report.json" "$folder/comment.md"
    [[ ${INPUT_PATH-} != -* ]] || fail "input path: expected a path, found the option '$INPUT_PATH'; write ./$INPUT_PATH"
    [ -z "$INPUT_PRINCIPLE" ] || arguments+=(--principle "$INPUT_PRINCIPLE")
    case $INPUT_STRICT in
    true) arguments+=(--strict) ;;
    false) ;;
    *) fail "input strict: expected true or false, found '$INPUT_STRICT'" ;;
    esac
    while IFS= read -r line; do
        [ -z "$line" ] || arguments+=(--report "$line")
    done <<<"$INPUT_REPORT"
    case $INPUT_COMMENT in
    true) arguments+=(--report "markdown=$folder/comment.md") ;;
    false) ;;
    *) fail "input comment: expected true or false, found '$INPUT_COMMENT'" ;;
    esac
    arguments+=(--report "json=$folder/report.json" "${INPUT_PATH:-.}")
    while IFS= read -r line; do
        [ -z "$line" ] || arguments+=("$line")
    done <<<"$INPUT_ARGS"
    "$PROGRAM" "${arguments[@]}" || status=$?
    output exit-code "$status"
    [ ! -s "$folder/report.json" ] || output report "$folder/report.json"
    [ ! -s "$folder/comment.md" ] || comment ||
        echo "::warning title=agentnative::cannot comment on the pull request: the job needs the permission pull-requests: write"
    exit "$status"
}

case ${1-} in
find) find_program ;;
build) build ;;
check) check ;;
*)
    echo "usage: packages/action.sh find|build|check" >&2
    exit 2
    ;;
esac
