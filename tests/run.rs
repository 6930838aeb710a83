//! Runs of strangers' programs, through the public face.

mod support;

use agentnative::report::Variant;
use agentnative::run::{Bytes, End, Stdin};
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use support::{bytes, finish, options, python, run, runner, sh, spec, text};

#[test]
fn exact_bytes_and_code() {
    let seen = run(sh(r"printf 'a\000\377\r\n'; printf 'e\n' >&2; exit 3", Variant::Plain));
    assert_eq!(seen.end, End::Exited(3));
    assert_eq!(bytes(&seen.stdout), b"a\0\xff\r\n");
    assert_eq!(bytes(&seen.stderr), b"e\n");
    assert_eq!((seen.left_behind.len(), seen.held_open, seen.waiting), (0, false, None));
}
