//! The channel of stdout in each variant, and what is captured of it.

use super::{python, run, run_all, sh};
use crate::runs::{bytes, spec, text};
use agentnative::model::Variant;
use agentnative::run::{Bytes, Captured, RunEnd};
use std::sync::Arc;
use std::time::Duration;

/// Prints 1 MB of bytes of all values.
const MEGABYTE: &str = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 4000)";

fn megabyte() -> Vec<u8> {
    (0..=255).cycle().take(256 * 4000).collect()
}

#[test]
fn the_same_bytes_arrive_on_each_channel() {
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
    for observation in run_all(specs) {
        let name = observation.key.variant.name();
        assert_eq!(observation.end, RunEnd::Exited(0), "{name}");
        assert!(bytes(&observation.stdout) == megabyte(), "{name}: {} bytes", observation.stdout.bytes.len());
        assert_eq!(observation.stdout.chunks.last().unwrap().end, observation.stdout.bytes.len(), "{name}");
    }
}

#[test]
fn stdout_can_be_a_terminal_with_stderr_separate() {
    let script = "import os, sys\n\
        print([os.isatty(fd) for fd in range(3)], os.get_terminal_size(), os.environ['TERM'])\n\
        print(os.ttyname(1).startswith('/dev/pts/'), os.getsid(0) == os.getpid(), os.tcgetpgrp(1) == os.getpgrp())\n\
        open('/dev/tty', 'w').write('direct\\n')\n\
        print('error', file=sys.stderr)";
    let mut spec = python(script, Variant::Tty);
    spec.job.columns = 20;
    let outcome = run(spec);
    let expected =
        "[False, True, False] os.terminal_size(columns=20, lines=24) xterm-256color\nTrue True True\n";
    assert!(text(&outcome.stdout).contains(expected), "{} {}", text(&outcome.stdout), text(&outcome.stderr));
    assert!(text(&outcome.stdout).contains("direct\n"));
    assert_eq!(text(&outcome.stderr), "error\n");
    let plain = run(sh("test -t 1 || test -t 2 || test -t 0; echo $?; true </dev/tty", Variant::Plain));
    assert_eq!(text(&plain.stdout), "1\n");
    assert_ne!(plain.end, RunEnd::Exited(0));
}

#[test]
fn stdout_can_be_a_regular_file() {
    let outcome =
        run(sh("test -f /proc/self/fd/1 && echo yes; test -p /proc/self/fd/2 && echo pipe", Variant::File));
    assert_eq!(text(&outcome.stdout), "yes\npipe\n");
}

#[test]
fn a_slow_reader_loses_output_of_a_program_that_does_not_block() {
    // Does not block: output that does not fit into the pipe is lost.
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
fn a_slow_reader_reads_all_output() {
    let outcome = run(sh("head -c 50000000 /dev/zero; echo end >&2", Variant::SlowReader));
    assert_eq!((outcome.stdout.bytes.len(), text(&outcome.stderr)), (50_000_000, "end\n".into()));
}

#[test]
fn a_closed_pipe_raises_sigpipe_or_an_error() {
    let sigpipe = run(spec("/usr/bin/seq", &["100000"], Variant::ClosedPipe));
    assert_eq!(sigpipe.end, RunEnd::Signaled(13));
    assert_eq!(text(&sigpipe.stdout), "");
    let python = run(python("print('x' * 100000)", Variant::ClosedPipe));
    assert!(text(&python.stderr).contains("BrokenPipeError"));
    // Even a short output raises SIGPIPE; a program without output exits normally.
    assert_eq!(run(sh("echo short", Variant::ClosedPipe)).end, RunEnd::Signaled(13));
    assert_eq!(run(sh("exit 5", Variant::ClosedPipe)).end, RunEnd::Exited(5));
}

#[test]
fn arrival_times_are_captured() {
    let outcome = run(sh("echo a; sleep 0.3; echo b; sleep 0.3; printf c", Variant::Plain));
    let chunks = &outcome.stdout.chunks;
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
fn equal_large_captures_share_one_file() {
    let specs = [Variant::Plain, Variant::Repeat, Variant::File, Variant::SlowReader]
        .map(|variant| python(MEGABYTE, variant))
        .into_iter()
        .chain([python("print('y' * 1024000)", Variant::Plain), sh("echo small", Variant::Plain)]);
    let observations = run_all(specs.collect());
    let files: Vec<_> = observations
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
fn output_and_exit_code_are_kept_if_a_child_holds_the_pipe_open() {
    let outcome = run(sh("echo early; (sleep 100; echo late) & exit 6", Variant::Plain));
    assert_eq!(
        (outcome.end, text(&outcome.stdout), outcome.held_open),
        (RunEnd::Exited(6), "early\n".into(), true)
    );
    assert!(outcome.left_behind.iter().any(|left| left.name == b"sleep"), "{:?}", outcome.left_behind);
    // The helper waits for a child that ends within the drain deadline.
    let outcome = run(sh("(sleep 0.02; echo late) & echo early", Variant::Plain));
    assert!(text(&outcome.stdout).starts_with("early\n"));
}
