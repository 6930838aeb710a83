//! Conditions that single checks use: terminals on stdin, colours, a full disk, no home.

use super::{python, run, sh};
use crate::runs::{options, spec, text};
use agentnative::model::Variant;
use agentnative::run::{RequestedConfinement, RunEnd, Runner, Template, TemplateFile, Waiting, Workspace};

#[test]
fn a_terminal_on_stdin_only_is_the_controlling_terminal() {
    let script = "import os\n\
        print([os.isatty(fd) for fd in range(3)], os.environ['TERM'], os.getsid(0) == os.getpid())\n\
        open('/dev/tty', 'w').write('direct\\n' * 10000)";
    let outcome = run(python(script, Variant::TerminalIn));
    assert_eq!(
        text(&outcome.stdout),
        "[True, False, False] xterm-256color True\n",
        "{}",
        text(&outcome.stderr)
    );
    assert_eq!(outcome.end, RunEnd::Exited(0), "any amount can be written to the terminal");
    assert!(
        outcome.terminal.starts_with(b"direct\n") && outcome.terminal.len() == 4096,
        "{}",
        outcome.terminal.len()
    );
}

#[test]
fn a_prompt_on_the_terminal_is_captured() {
    for script in [
        "printf 'Name: ' >/dev/tty; read -r name </dev/tty",
        "printf 'Name: ' >/dev/tty; read -r name",
        "exec 3</dev/tty; printf 'Name: ' >/dev/tty; read -r name <&3",
    ] {
        let outcome = run(sh(script, Variant::TerminalIn));
        assert_eq!((&outcome.end, outcome.waiting), (&RunEnd::Waited, Some(Waiting::Terminal)), "{script}");
        assert_eq!(outcome.terminal, b"Name: ", "{script}");
    }
    let declared = {
        let mut spec = sh("test -t 0 || cat", Variant::TerminalIn);
        spec.job.stdin = Some((*b"given").into());
        run(spec)
    };
    assert_eq!(text(&declared.stdout), "given", "declared input replaces the terminal");
}

#[test]
fn a_full_terminal_is_stdin_stdout_and_stderr() {
    let script =
        "test -t 0 && test -t 1 && test -t 2 && echo all; echo error >&2; echo direct >/dev/tty; read -r x";
    let outcome = run(sh(script, Variant::FullTerminal));
    assert_eq!((&outcome.end, outcome.waiting), (&RunEnd::Waited, Some(Waiting::Terminal)));
    assert_eq!(text(&outcome.stdout), "all\nerror\ndirect\n");
    assert!(outcome.stderr.bytes.is_empty() && outcome.terminal.is_empty());
}

#[test]
fn variants_request_or_refuse_colours() {
    let script = "test -t 1 && printf 'terminal '; echo \"$TERM ${NO_COLOR-unset}\"";
    let under = |variant, nth| {
        let mut spec = sh(script, variant);
        spec.job.environment = nth;
        text(&run(spec).stdout)
    };
    assert_eq!(under(Variant::ColourPipe, 0), "xterm-256color unset\n");
    assert_eq!(under(Variant::NoColour, 0), "terminal xterm-256color 1\n");
    assert_eq!(under(Variant::NoColour, 1), "terminal dumb unset\n");
}

#[test]
fn each_write_to_a_full_disk_fails() {
    let outcome = run(sh("printf lost || exit 3", Variant::Full));
    assert_eq!((&outcome.end, outcome.stdout.bytes.len()), (&RunEnd::Exited(3), 0));
}

#[test]
fn a_run_without_a_home_has_no_home_variables_and_writes_nothing_elsewhere() {
    let outside = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let file = outside.path().join("written");
    let script = format!(
        "echo ${{HOME-none}} ${{XDG_CONFIG_HOME-none}} ${{XDG_RUNTIME_DIR-none}}; echo here >$TMPDIR/a && echo in; echo out >'{}' || :",
        file.display()
    );
    let outcome = run(sh(&script, Variant::Bare));
    assert_eq!(text(&outcome.stdout), "none none none\nin\n", "{}", text(&outcome.stderr));
    // With Landlock, the write fails.
    let mut probe = spec("/bin/sh", &["-c", "true"], Variant::Plain);
    probe.job.isolation = RequestedConfinement::Landlock;
    let enforced = Runner::new(options()).run_all(vec![probe], &mut |_| {}).unwrap().confinement;
    let confined = enforced.is_some_and(|level| level != agentnative::run::Confinement::None);
    assert_eq!(file.exists(), !confined);
}

#[test]
fn an_invalid_configuration_is_at_the_declared_path() {
    let under = |file: Option<&str>, nth| {
        let mut spec = sh("od -An -tx1 $HOME/.config/a/b.toml 2>/dev/null || echo none", Variant::Bare);
        (spec.job.config_file, spec.job.environment) = (file.map(Into::into), nth);
        text(&run(spec).stdout)
    };
    assert_eq!(under(None, 1), "none\n");
    assert_eq!(under(Some(".config/a/b.toml"), 1), " 00 ff 5b 7b 28 3c 3d 3a 20 0a\n");
}

#[test]
fn a_used_home_contains_the_files_of_earlier_calls() {
    let script = "old=$(find $HOME -name calls -mtime +29); touch $HOME/calls; echo x >>$HOME/calls; \
        wc -l <$HOME/calls; echo ${old:+old}";
    let under = |variant, nth| {
        let mut spec = sh(script, variant);
        spec.job.environment = nth;
        text(&run(spec).stdout)
    };
    assert_eq!(under(Variant::Plain, 0), "1\n\n");
    for (variant, nth, expected) in [
        (Variant::UsedHome, 0, "2\n\n"),
        (Variant::UsedHome, 1, "3\nold\n"),
        (Variant::File, 2, "2\n\n"),
        (Variant::SlowReader, 2, "3\nold\n"),
    ] {
        assert_eq!(under(variant, nth), expected, "{} {nth}", variant.name());
    }
    let failing = run(sh("[ ! -e $HOME/called ] || exit 4; : >$HOME/called; exit 3", Variant::UsedHome));
    assert_eq!(failing.end, RunEnd::Exited(4));
}

#[test]
fn a_read_only_home_keeps_its_files_and_the_other_folders_are_writable() {
    let script = "for folder in $HOME $HOME/.cache $TMPDIR .; do \
        mkdir -p $folder/new 2>/dev/null && echo yes || echo no; done; cat $HOME/file";
    for isolation in
        [RequestedConfinement::None, RequestedConfinement::Available, RequestedConfinement::Landlock]
    {
        let mut runner = Runner::new(options());
        let file = TemplateFile { path: "file".into(), bytes: b"kept".to_vec() };
        let mut spec = sh(script, Variant::ReadOnlyHome);
        spec.job.home = Some(runner.store_template(Template::Files(vec![file])).unwrap());
        spec.job.workspace = Some(Workspace::Empty);
        spec.job.isolation = isolation;
        let mut probe = sh("true", Variant::Plain);
        probe.job.isolation = RequestedConfinement::Landlock;
        let done = runner.run_all(vec![spec, probe], &mut |_| {}).unwrap();
        if done.confinement.is_none_or(|level| level == agentnative::run::Confinement::None) {
            eprintln!("skipped: this system has no Landlock");
            return;
        }
        assert_eq!(text(&done.observations[0].stdout), "no\nno\nyes\nyes\nkept", "{isolation:?}");
    }
}

#[test]
fn two_calls_at_once_share_their_folders_and_a_failure_counts() {
    let doubled = |script| {
        let mut spec = sh(script, Variant::Plain);
        spec.job.workspace = Some(Workspace::Empty);
        spec.job.is_doubled = true;
        run(spec)
    };
    let one = doubled("mkdir one 2>/dev/null || { echo second; exit 3; }");
    assert_eq!((&one.end, text(&one.stdout)), (&RunEnd::Exited(3), "second\n".to_owned()));
    // Each waits for the other.
    let meeting = doubled(": >here.$$; while set -- here.*; [ $# -lt 2 ]; do sleep 0.01; done; echo both");
    assert_eq!((&meeting.end, text(&meeting.stdout)), (&RunEnd::Exited(0), "both\n".to_owned()));
}
