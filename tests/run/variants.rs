//! The channel of standard output under each variant, and what is kept of it.

use super::{all, python, run, sh};
use crate::runs::{bytes, spec, text};
use agentnative::model::Variant;
use agentnative::run::{Bytes, Captured, End};
use std::sync::Arc;
use std::time::Duration;

/// Prints 1 MB of bytes of all values.
const MEGABYTE: &str = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 4000)";

fn megabyte() -> Vec<u8> {
    (0..=255).cycle().take(256 * 4000).collect()
}

#[test]
fn the_same_bytes_arrive_whatever_the_channel() {
    let variants = [
        Variant::Plain,
        Variant::SlowReader,
        Variant::File,
        Variant::Tty,
        Variant::HostileEnv,
        Variant::Repeat,
        Variant::OpenStdin,
    ];
    let specs = variants.iter().map(|variant| python(MEGABYTE, *variant)).collect();
    for seen in all(specs) {
        let name = seen.key.variant.name();
        assert_eq!(seen.end, End::Exited(0), "{name}");
        assert!(bytes(&seen.stdout) == megabyte(), "{name}: {} bytes", seen.stdout.bytes.len());
        assert_eq!(seen.stdout.chunks.last().unwrap().end, seen.stdout.bytes.len(), "{name}");
    }
}

#[test]
fn a_terminal_is_one_and_stderr_is_apart() {
    let script = "import os, sys\n\
        print([os.isatty(fd) for fd in range(3)], os.get_terminal_size(), os.environ['TERM'])\n\
        print(os.ttyname(1).startswith('/dev/pts/'), os.getsid(0) == os.getpid(), os.tcgetpgrp(1) == os.getpgrp())\n\
        open('/dev/tty', 'w').write('direct\\n')\n\
        print('error', file=sys.stderr)";
    let seen = run(python(script, Variant::Tty));
    let expected =
        "[False, True, False] os.terminal_size(columns=80, lines=24) xterm-256color\nTrue True True\n";
    assert!(text(&seen.stdout).contains(expected), "{} {}", text(&seen.stdout), text(&seen.stderr));
    assert!(text(&seen.stdout).contains("direct\n"));
    assert_eq!(text(&seen.stderr), "error\n");
    let plain = run(sh("test -t 1 || test -t 2 || test -t 0; echo $?; true </dev/tty", Variant::Plain));
    assert_eq!(text(&plain.stdout), "1\n");
    assert_ne!(plain.end, End::Exited(0));
}

#[test]
fn a_file_is_a_regular_file() {
    let seen =
        run(sh("test -f /proc/self/fd/1 && echo yes; test -p /proc/self/fd/2 && echo pipe", Variant::File));
    assert_eq!(text(&seen.stdout), "yes\npipe\n");
}

#[test]
fn a_slow_reader_finds_who_does_not_wait() {
    // Does not block: what the pipe does not take is lost.
    let impatient = "import os\n\
        os.set_blocking(1, False)\n\
        data = b'x' * 20000\n\
        try:\n\
        \x20   while data: data = data[os.write(1, data):]\n\
        except BlockingIOError: pass";
    assert_eq!(run(python(impatient, Variant::File)).stdout.bytes.len(), 20_000);
    assert!(run(python(impatient, Variant::SlowReader)).stdout.bytes.len() < 20_000);
}

#[test]
fn a_slow_reader_reads_much_in_the_end() {
    let seen = run(sh("head -c 50000000 /dev/zero; echo end >&2", Variant::SlowReader));
    assert_eq!((seen.stdout.bytes.len(), text(&seen.stderr)), (50_000_000, "end\n".into()));
}

#[test]
fn a_pipe_that_closes_early() {
    let sigpipe = run(spec("/usr/bin/seq", &["100000"], Variant::ClosedPipe));
    assert_eq!(sigpipe.end, End::Signaled(13));
    assert_eq!(text(&sigpipe.stdout), "");
    let python = run(python("print('x' * 100000)", Variant::ClosedPipe));
    assert!(text(&python.stderr).contains("BrokenPipeError"));
    // However little is written meets the closed pipe; who writes nothing does not notice.
    assert_eq!(run(sh("echo short", Variant::ClosedPipe)).end, End::Signaled(13));
    assert_eq!(run(sh("exit 5", Variant::ClosedPipe)).end, End::Exited(5));
}

#[test]
fn times_of_arrival_are_kept() {
    let seen = run(sh("echo a; sleep 0.3; echo b; sleep 0.3; printf c", Variant::Plain));
    let chunks = &seen.stdout.chunks;
    assert_eq!(chunks.iter().map(|chunk| chunk.end).collect::<Vec<_>>(), [2, 4, 5]);
    assert!(chunks.windows(2).all(|pair| pair[1].at - pair[0].at > Duration::from_millis(100)));
    let many = run(python(
        "import sys\nfor n in range(100000): sys.stdout.write('x' * 99 + '\\n'); sys.stdout.flush()",
        Variant::Plain,
    ));
    assert!(many.stdout.chunks.len() <= Captured::MAX_CHUNKS);
    assert_eq!(many.stdout.chunks.last().unwrap().end, 10_000_000);
    assert!(many.stdout.chunks.is_sorted_by_key(|chunk| (chunk.end, chunk.at)));
}

#[test]
fn large_captures_alike_share_one_file() {
    let specs = [Variant::Plain, Variant::Repeat, Variant::File, Variant::SlowReader]
        .map(|variant| python(MEGABYTE, variant))
        .into_iter()
        .chain([python("print('y' * 1024000)", Variant::Plain), sh("echo small", Variant::Plain)]);
    let seen = all(specs.collect());
    let files: Vec<_> = seen
        .iter()
        .filter_map(|one| match &one.stdout.bytes {
            Bytes::File { file, .. } => Some(Arc::as_ptr(file)),
            Bytes::Memory(_) => None,
        })
        .collect();
    assert_eq!(files.len(), 5);
    assert!(files[..4].iter().all(|file| *file == files[0]));
    assert_ne!(files[4], files[0]);
}

#[test]
fn bytes_and_code_outlive_a_leader_whose_child_holds_the_pipe() {
    let seen = run(sh("echo early; (sleep 100; echo late) & exit 6", Variant::Plain));
    assert_eq!((seen.end, text(&seen.stdout), seen.held_open), (End::Exited(6), "early\n".into(), true));
    assert!(seen.left_behind.iter().any(|left| left.name == b"sleep"), "{:?}", seen.left_behind);
    // A child that ends within the drain deadline is waited for.
    let seen = run(sh("(sleep 0.02; echo late) & echo early", Variant::Plain));
    assert!(text(&seen.stdout).starts_with("early\n"));
}
