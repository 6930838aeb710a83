//! The conditions that single checks look at: terminals on stdin, colours, lost output, no home.

use super::{python, run, sh};
use crate::runs::{options, spec, text};
use agentnative::model::Variant;
use agentnative::run::{End, Isolation, Runner, Waiting};

#[test]
fn a_terminal_on_stdin_alone_is_the_controlling_one() {
    let script = "import os\n\
        print([os.isatty(fd) for fd in range(3)], os.environ['TERM'], os.getsid(0) == os.getpid())\n\
        open('/dev/tty', 'w').write('direct\\n' * 10000)";
    let seen = run(python(script, Variant::TerminalIn));
    assert_eq!(text(&seen.stdout), "[True, False, False] xterm-256color True\n", "{}", text(&seen.stderr));
    assert_eq!(seen.end, End::Exited(0), "what is written to the terminal is taken, however much");
    assert!(seen.terminal.starts_with(b"direct\n") && seen.terminal.len() == 4096, "{}", seen.terminal.len());
}

#[test]
fn a_question_on_the_terminal_is_kept() {
    for script in [
        "printf 'Name: ' >/dev/tty; read -r name </dev/tty",
        "printf 'Name: ' >/dev/tty; read -r name",
        "exec 3</dev/tty; printf 'Name: ' >/dev/tty; read -r name <&3",
    ] {
        let seen = run(sh(script, Variant::TerminalIn));
        assert_eq!((&seen.end, seen.waiting), (&End::Waited, Some(Waiting::Terminal)), "{script}");
        assert_eq!(seen.terminal, b"Name: ", "{script}");
    }
    let declared = {
        let mut spec = sh("test -t 0 || cat", Variant::TerminalIn);
        spec.job.stdin = Some((*b"given").into());
        run(spec)
    };
    assert_eq!(text(&declared.stdout), "given", "declared input takes the place of the terminal");
}

#[test]
fn a_full_terminal_has_all_three_streams() {
    let script =
        "test -t 0 && test -t 1 && test -t 2 && echo all; echo error >&2; echo direct >/dev/tty; read -r x";
    let seen = run(sh(script, Variant::FullTerminal));
    assert_eq!((&seen.end, seen.waiting), (&End::Waited, Some(Waiting::Terminal)));
    assert_eq!(text(&seen.stdout), "all\nerror\ndirect\n");
    assert!(seen.stderr.bytes.is_empty() && seen.terminal.is_empty());
}

#[test]
fn colours_are_wanted_or_not() {
    let script = "test -t 1 && printf 'terminal '; echo \"$TERM ${NO_COLOR-unset}\"";
    let under = |variant, nth| {
        let mut spec = sh(script, variant);
        spec.job.nth = nth;
        text(&run(spec).stdout)
    };
    assert_eq!(under(Variant::ColourPipe, 0), "xterm-256color unset\n");
    assert_eq!(under(Variant::NoColour, 0), "terminal xterm-256color 1\n");
    assert_eq!(under(Variant::NoColour, 1), "terminal dumb unset\n");
}

#[test]
fn each_write_to_a_full_disk_fails() {
    let seen = run(sh("printf lost || exit 3", Variant::Full));
    assert_eq!((&seen.end, seen.stdout.bytes.len()), (&End::Exited(3), 0));
}

#[test]
fn without_a_home_there_is_none_and_nothing_is_written_elsewhere() {
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = outside.path().join("written");
    let script = format!(
        "echo ${{HOME-none}} ${{XDG_CONFIG_HOME-none}} ${{XDG_RUNTIME_DIR-none}}; echo here >$TMPDIR/a && echo in; echo out >'{}' || :",
        file.display()
    );
    let seen = run(sh(&script, Variant::Bare));
    assert_eq!(text(&seen.stdout), "none none none\nin\n", "{}", text(&seen.stderr));
    // Where the kernel has Landlock, the write is refused.
    let mut probe = spec("/bin/sh", &["-c", "true"], Variant::Plain);
    probe.job.isolation = Isolation::Landlock;
    let enforced = Runner::new(options()).run_all_blocking(vec![probe], &mut |_| {}).unwrap().confinement;
    let confined = enforced.is_some_and(|way| way != agentnative::run::Confinement::None);
    assert_eq!(file.exists(), !confined);
}

#[test]
fn an_invalid_configuration_is_where_the_target_looks_for_it() {
    let under = |file: Option<&str>, nth| {
        let mut spec = sh("od -An -tx1 $HOME/.config/a/b.toml 2>/dev/null || echo none", Variant::Bare);
        (spec.job.config_file, spec.job.nth) = (file.map(Into::into), nth);
        text(&run(spec).stdout)
    };
    assert_eq!(under(None, 1), "none\n");
    assert_eq!(under(Some(".config/a/b.toml"), 1), " 00 ff 5b 7b 28 3c 3d 3a 20 0a\n");
}
