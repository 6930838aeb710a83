#!/usr/bin/env bash
# Builds the Debian package for a target: `target/packages/release/agentnative-check_VERSION-1_ARCHITECTURE.deb`. Its
# contents are declared in `[package.metadata.deb]` in Cargo.toml. Run binary.sh and assets.sh first. Needs cargo-deb.
set -euo pipefail
source "$(dirname "$0")/common.sh"
[ $# = 1 ] || usage packages/debian.sh TARGET

maintainer=${DEBIAN_MAINTAINER:-The agentnative authors <root@localhost>}
assets=$out/assets
mkdir -p "$out/release"
cat >"$assets/changelog" <<END
agentnative-check ($version-1) unstable; urgency=medium

  * Release $version; see /usr/share/doc/agentnative-check/changelog.gz.

 -- $maintainer  $(date --utc --rfc-email --date "@$SOURCE_DATE_EPOCH")
END
{
    echo "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/"
    echo "Upstream-Name: agentnative"
    echo
    echo "Files: *"
    echo "Copyright: $(sed -n 's/^Copyright (c) //p' LICENSE-MIT)"
    echo "License: Expat or Apache-2.0"
    echo
    echo "License: Expat"
    sed -e '1,/^Copyright/d' -e '/^$/s/^$/./' -e 's/^/ /' LICENSE-MIT | sed 1d
    echo
    echo "License: Apache-2.0"
    echo " On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0."
} >"$assets/copyright"
install -D "$out/$1/agentnative" "${CARGO_TARGET_DIR:-target}/$1/release/agentnative"
cargo deb --locked --no-build --no-strip --target "$1" --maintainer "$maintainer" --output "$out/release/"
