//! File snapshots, setup calls, interrupts, secrets and the stalled server of runs.

use super::{python, run, sh};
use crate::runs::{finish, options, text};
use agentnative::model::Variant;
use agentnative::run::{
    Area, Changes, Confinement, FileChange, FileKind, Interruption, Job, Leak, LeakEncoding, LeakPlace,
    Leftover, RequestedConfinement, RunEnd, RunSpec, Runner, Secret, SetupCall, StopSignal, Template,
    TemplateFile, Workspace,
};
use std::fs;
use std::path::Path;
use std::time::Duration;

fn with_snapshots(mut spec: RunSpec) -> RunSpec {
    spec.job.workspace = Some(Workspace::Empty);
    spec.job.snapshots = true;
    spec
}

/// A setup call that runs a shell script.
fn setup_call(script: &str) -> SetupCall {
    SetupCall { args: vec!["-c".into(), script.into()], env: Vec::new(), interrupt: None }
}

/// Sign, area and path of each change.
fn summary(changes: &Changes) -> Vec<String> {
    assert_eq!(changes.count, changes.list.len());
    let words = |FileChange { area, path, before, after }: &FileChange| {
        let sign = match (before, after) {
            (None, _) => '+',
            (_, None) => '-',
            _ => '~',
        };
        let area = match area {
            Area::Workspace => "",
            Area::Home => "~/",
            Area::Xdg => "xdg:",
        };
        format!("{sign}{area}{path}")
    };
    changes.list.iter().map(words).collect()
}

#[test]
fn created_changed_and_removed_files_are_reported() {
    let kept = "mkdir sub; echo a >sub/a; ln -s a sub/link; echo c >c; chmod 600 c";
    let summary_of = |script: &str| {
        let mut spec = with_snapshots(sh(script, Variant::Plain));
        spec.job.setup = vec![setup_call(kept)];
        let outcome = run(spec);
        assert_eq!(outcome.end, RunEnd::Exited(0), "{script}: {}", text(&outcome.stderr));
        summary(&outcome.changes.unwrap())
    };
    let none: [&str; 0] = [];
    assert_eq!(summary_of("cat sub/a c"), none);
    assert_eq!(summary_of("touch -d 2001-01-01 c; echo c >c; cp sub/a t; mv t sub/a"), none);
    assert_eq!(summary_of("echo b >c; echo >new; rm sub/a"), ["~c", "+new", "-sub/a"]);
    assert_eq!(summary_of("chmod 644 c; ln -sf b sub/link"), ["~c", "~sub/link"]);
    assert_eq!(summary_of("echo >\"$HOME/.rc\"; mkdir -p \"$HOME/.x/y\""), ["+~/.rc", "+~/.x", "+~/.x/y"]);
    assert_eq!(summary_of("rm c; mkdir c; mkfifo p"), ["~c", "+p"]);
    assert_eq!(summary_of("echo >\"$TMPDIR/a\"; echo >\"$XDG_RUNTIME_DIR/b\""), none);
    assert_eq!(summary_of("rm -r \"$PWD\""), ["-.", "-c", "-sub", "-sub/a", "-sub/link"]);
    assert_eq!(summary_of("rm -r \"$PWD\"; ln -s / \"$PWD\""), ["~.", "-c", "-sub", "-sub/a", "-sub/link"]);
}

#[test]
fn changed_documents_have_shapes() {
    let have_equal_shapes = |first: &str, second: &str| {
        let mut spec = with_snapshots(sh("printf %s \"$AFTER\" >file", Variant::Plain));
        let env = vec![("BEFORE".into(), first.into())];
        spec.job.setup = vec![SetupCall { env, ..setup_call("printf %s \"$BEFORE\" >file") }];
        spec.job.env.push(("AFTER".into(), second.into()));
        let Changes { list, .. } = run(spec).changes.unwrap();
        let [FileChange { before: Some(before), after: Some(after), .. }] = &list[..] else {
            panic!("{list:?}")
        };
        assert_eq!(before.kind, FileKind::File);
        (before.shape.is_some() && after.shape.is_some()).then(|| before.shape == after.shape)
    };
    assert_eq!(have_equal_shapes(r#"{"a": 1, "b": ["x"]}"#, r#"{"b":["y"],"a":2}"#), Some(true));
    assert_eq!(have_equal_shapes(r#"{"a": [1]}"#, r#"{"a": [1, 2]}"#), Some(false));
    assert_eq!(have_equal_shapes(r#"{"a": 1}"#, r#"{"a": "1"}"#), Some(false));
    assert_eq!(have_equal_shapes("a", "b"), None);
    assert_eq!(have_equal_shapes("123", "456"), None);
}

#[test]
fn with_too_many_or_too_large_files_no_changes_are_reported() {
    let many = "for n in range(25000): open(f'{n}', 'w').close()";
    assert_eq!(run(with_snapshots(python(many, Variant::Plain))).changes, None);
    let some = "for n in range(1500): open(f'{n}', 'w').close()";
    let Changes { count, list } = run(with_snapshots(python(some, Variant::Plain))).changes.unwrap();
    assert_eq!((count, list.len()), (1500, Changes::MAX_LISTED));
    // A sparse file that is larger than the limit on read bytes.
    assert_eq!(run(with_snapshots(sh("truncate -s 1200M hole", Variant::Plain))).changes, None);
    assert_eq!(run(sh("echo >file", Variant::Plain)).changes, None);
}

#[test]
fn workspace_and_home_are_copies() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("kept"), "kept\n").unwrap();
    let mut runner = Runner::new(options());
    let template =
        runner.store_template(Template::Folder { from: folder.path().into(), is_bounded: false }).unwrap();
    let rc = TemplateFile { path: ".rc".into(), bytes: b"rc\n".to_vec() };
    let home = runner.store_template(Template::Files(vec![rc])).unwrap();
    let mut spec = with_snapshots(sh("cat kept ~/.rc; echo new | tee kept >~/.rc", Variant::Plain));
    spec.job.workspace = Some(Workspace::Copy(template));
    spec.job.home = Some(home);
    let observations = runner.run_all(vec![spec.clone(), spec], &mut |_| {}).unwrap().observations;
    for observation in observations {
        assert_eq!(text(&observation.stdout), "kept\nrc\n");
        assert_eq!(summary(&observation.outcome.changes.unwrap()), ["~kept", "~~/.rc"]);
    }
    assert_eq!(fs::read_to_string(folder.path().join("kept")).unwrap(), "kept\n");
}

#[test]
fn a_failed_setup_call_prevents_the_run() {
    let run_with = |setup: &[&str], script: &str| {
        let mut spec = with_snapshots(sh(script, Variant::OpenStdin));
        spec.job.setup = setup.iter().map(|script| setup_call(script)).collect();
        spec.job.deadline = Duration::from_secs(20);
        run(spec)
    };
    let outcome = run_with(&["echo 1 >a", "cat a; cp a b"], "cat a b; cp a c");
    assert_eq!((&outcome.end, text(&outcome.stdout).as_str()), (&RunEnd::Exited(0), "1\n1\n"));
    assert_eq!(summary(&outcome.changes.unwrap()), ["+c"]);
    for (script, how) in [("exit 3", "exited with 3"), ("kill -9 $$", "was terminated by signal 9")] {
        let outcome = run_with(&["true", script], "echo made");
        let RunEnd::NotStarted(_, words) = &outcome.end else { panic!("{script}: {:?}", outcome.end) };
        assert!(words.contains(how) && words.contains(script), "{words}");
        assert_eq!((text(&outcome.stdout).as_str(), outcome.changes), ("", None));
    }
    // A setup call over a limit is reported as such, and not as a failure.
    let outcome = run_with(&["true", "yes"], "echo made");
    assert!(matches!(outcome.end, RunEnd::TooMuch(_)), "{:?}", outcome.end);
    assert_eq!((text(&outcome.stdout).as_str(), outcome.changes), ("", None));
}

/// Python code that tries to write outside of its folders in many ways.
const ESCAPE_ATTEMPTS: &str = r#"
import os, sys
outside = sys.argv[1]
def link(): os.symlink(outside, 'link'); open('link/by-link', 'w')
def hard(): os.link(outside + '/kept', 'hard'); open('hard', 'a').write('changed')
def child():
    if os.spawnvp(os.P_WAIT, 'sh', ['sh', '-c', 'echo changed >"$0/kept"', outside]): raise PermissionError
def tripwires(): open(os.path.realpath(os.path.dirname(os.environ['PATH'].split(':')[0] + '/')) + '/less', 'a')
def sibling(): open(os.path.dirname(os.path.dirname(os.environ['HOME'])) + '/sibling', 'w')
def ptrace(): open(f'/proc/{os.getppid()}/mem', 'w')
tries = [
    lambda: open(outside + '/new', 'w'),
    lambda: open(outside + '/kept', 'a').write('changed'),
    lambda: os.truncate(outside + '/kept', 0),
    lambda: os.remove(outside + '/kept'),
    lambda: os.rename(outside + '/kept', outside + '/moved'),
    lambda: os.rename(outside + '/kept', 'moved'),
    lambda: os.mkdir(outside + '/folder'),
    lambda: os.symlink('x', outside + '/symlink'),
    lambda: os.mkfifo(outside + '/fifo'),
    link, hard, child, tripwires, sibling, ptrace,
]
for number, act in enumerate(tries):
    try: act(); print('escaped', number)
    except OSError: pass
"#;

#[test]
fn a_confined_run_changes_nothing_outside() {
    let outside = tempfile::tempdir().unwrap();
    let kept = outside.path().join("kept");
    fs::write(&kept, "kept").unwrap();
    for (isolation, level) in [
        (RequestedConfinement::Landlock, Confinement::Landlock),
        (RequestedConfinement::Required, Confinement::Namespaces),
    ] {
        let mut spec = with_snapshots(python(ESCAPE_ATTEMPTS, Variant::Plain));
        spec.job.args.push(outside.path().into());
        spec.job.isolation = isolation;
        let finished = finish(options(), vec![spec]);
        let observation = &finished.observations[0];
        if finished.confinement != Some(level) {
            eprintln!("skipped: this system has no {level:?}, but {:?}", finished.confinement);
            continue;
        }
        // In namespaces, the parent of its folders is private, too.
        let escaped = if level == Confinement::Namespaces { "escaped 13\n" } else { "" };
        assert_eq!(
            (&observation.end, text(&observation.stdout).as_str()),
            (&RunEnd::Exited(0), escaped),
            "{level:?}: {}",
            text(&observation.stderr)
        );
        let left: Vec<_> = fs::read_dir(outside.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(left, std::slice::from_ref(&kept));
        assert_eq!(fs::read_to_string(Path::new(&kept)).unwrap(), "kept");
    }
}

fn on_begun(signal: StopSignal) -> Option<Interruption> {
    Some(Interruption { after: "begun".into(), signal })
}

fn interrupted_run(script: &str) -> RunSpec {
    let mut spec = with_snapshots(sh(script, Variant::Plain));
    spec.job.interrupt = on_begun(StopSignal::Terminate);
    spec.job.deadline = Duration::from_secs(60);
    spec
}

#[test]
fn a_run_is_interrupted_after_the_expected_output() {
    let handles = "trap 'echo >stopped; exit 143' TERM; echo begun >&2; for i in 1 2 3 4 5 6 7 8 9; do sleep 0.2; done; echo >done";
    let outcome = run(interrupted_run(handles));
    assert_eq!(
        (&outcome.end, summary(&outcome.changes.unwrap())),
        (&RunEnd::Exited(143), vec!["+stopped".into()])
    );
    assert!(outcome.signalled.unwrap() < Job::INTERRUPTION_GRACE);
    let dies = run(interrupted_run("echo begun; exec sleep 60"));
    assert_eq!((dies.end, dies.signalled.is_some()), (RunEnd::Signaled(15), true));
    let never = run(interrupted_run("echo over"));
    assert_eq!((never.end, never.signalled), (RunEnd::Exited(0), None));
    // Only the leader receives the signal.
    let child = run(interrupted_run("sleep 60 </dev/null >/dev/null 2>&1 & echo begun; wait"));
    assert_eq!((child.end, child.left_behind.len()), (RunEnd::Signaled(15), 1));
    let deaf = run(interrupted_run("trap '' TERM; echo begun; sleep 60"));
    assert_eq!(deaf.end, RunEnd::TimedOut);
    assert!(deaf.signalled.unwrap() >= Job::INTERRUPTION_GRACE && deaf.duration < Duration::from_secs(30));
    assert!(deaf.left_behind.is_empty());
}

#[test]
fn sigint_reaches_the_whole_group_as_from_a_terminal() {
    let stopped = |script: &str| {
        let mut spec = interrupted_run(script);
        spec.job.interrupt = on_begun(StopSignal::Interrupt);
        run(spec)
    };
    let child = stopped("echo begun; sleep 60; echo after");
    assert_eq!((&child.end, child.left_behind.len()), (&RunEnd::Signaled(2), 0));
    assert!(child.signalled.unwrap() < Job::INTERRUPTION_GRACE);
    let handled = stopped("trap 'exit 130' INT; echo begun; sleep 60");
    assert_eq!(handled.end, RunEnd::Exited(130));
}

#[test]
fn the_xdg_folders_can_be_outside_the_home() {
    let mut runner = Runner::new(options());
    let file = |path: &str| TemplateFile { path: path.into(), bytes: b"x".into() };
    let files = vec![file(".config/a/b"), file(".local/share/c"), file(".rc")];
    let home = runner.store_template(Template::Files(files)).unwrap();
    let script = "ls -A ~ ~/.local; cat \"$XDG_CONFIG_HOME/a/b\" \"$XDG_DATA_HOME/c\" state; \
        echo >~/.new; mkdir \"$XDG_CACHE_HOME\"; echo >\"$XDG_CONFIG_HOME/a/b\"";
    let mut spec = with_snapshots(sh(script, Variant::Xdg));
    spec.job.setup =
        vec![setup_call("mkdir \"$XDG_STATE_HOME\"; echo s >\"$XDG_STATE_HOME/s\"; echo y >state")];
    spec.job.home = Some(home);
    let observation = runner.run_all(vec![spec], &mut |_| {}).unwrap().observations.remove(0);
    assert_eq!(observation.end, RunEnd::Exited(0), "{}", text(&observation.stderr));
    assert!(text(&observation.stdout).ends_with("\nxxy\n"), "{}", text(&observation.stdout));
    assert!(!text(&observation.stdout).contains(".config"));
    assert_eq!(summary(&observation.outcome.changes.unwrap()), ["+~/.new", "+xdg:cache", "~xdg:config/a/b"]);
}

#[test]
fn a_setup_call_has_its_own_variables() {
    let mut spec = with_snapshots(sh("cat file; echo \"${TOKEN-none} $BRIEF\"", Variant::Plain));
    let script = "echo \"$TOKEN ${BRIEF-none}\" >file";
    let call = SetupCall { env: vec![("TOKEN".into(), "given".into())], ..setup_call(script) };
    spec.job.setup = vec![call];
    spec.job.env = vec![("BRIEF".into(), "1".into())];
    assert_eq!(text(&run(spec).stdout), "given none\nnone 1\n");
}

#[test]
fn an_invalid_configuration_exists_only_for_the_run() {
    let script = "if [ -s ~/.demorc ]; then echo there; else echo none; fi";
    let mut spec = with_snapshots(sh(&format!("cat file; {script}"), Variant::Bare));
    (spec.key.nth, spec.job.environment) = (1, 1);
    spec.job.config_file = Some(".demorc".into());
    spec.job.setup = vec![setup_call(&format!("({script}) >file"))];
    assert_eq!(text(&run(spec).stdout), "none\nthere\n");
}

#[test]
fn the_configuration_file_is_removed_only_for_the_run() {
    let under = |variant| {
        let mut spec = with_snapshots(sh("cat ~/.demorc ~/other 2>/dev/null", variant));
        spec.job.config_file = Some(".demorc".into());
        spec.job.setup =
            ["echo file >~/.demorc; echo other >~/other", "cat ~/.demorc"].map(setup_call).into();
        text(&run(spec).stdout)
    };
    assert_eq!(under(Variant::Plain), "file\nother\n");
    assert_eq!(under(Variant::Unconfigured), "other\n");
}

#[test]
fn a_run_follows_an_interrupted_setup_call() {
    let mut spec = with_snapshots(sh("cat half", Variant::Plain));
    let args = ["-c", "echo half >half; echo begun; exec sleep 60"].map(Into::into).to_vec();
    spec.job.setup = vec![SetupCall { args, env: vec![], interrupt: on_begun(StopSignal::Terminate) }];
    let outcome = run(spec);
    assert_eq!((outcome.end, text(&outcome.stdout)), (RunEnd::Exited(0), "half\n".into()));
}

#[test]
fn the_stalled_server_accepts_connections_and_never_answers() {
    let script = "import os, socket, sys\n\
        for address in sys.argv[1], os.environ['SERVER']:\n\
        \x20   host, port = address.split('/')[2].split(':')\n\
        \x20   server = socket.create_connection((host, int(port)), 0.3)\n\
        \x20   server.sendall(b'hello')\n\
        \x20   try: server.recv(1)\n\
        \x20   except TimeoutError: print('no answer')";
    for isolation in
        [RequestedConfinement::None, RequestedConfinement::Landlock, RequestedConfinement::Available]
    {
        let mut spec = python(script, Variant::Plain);
        spec.job.args.push("http://PLACE/".into());
        spec.job.env.push(("SERVER".into(), "http://PLACE/".into()));
        (spec.job.stalled_server_placeholder, spec.job.isolation) = (Some("PLACE".into()), isolation);
        let outcome = run(spec);
        assert_eq!(text(&outcome.stdout), "no answer\nno answer\n", "{}", text(&outcome.stderr));
        assert_eq!(outcome.connections, Some(2));
    }
    assert_eq!(run(sh("true", Variant::Plain)).connections, None);
}

/// Leaks of a secret by a script that has it in $SECRET.
fn leaks(secret: &str, script: &str) -> Option<Vec<Leak>> {
    let mut spec = with_snapshots(sh(script, Variant::Plain));
    spec.job.env.push(("SECRET".into(), secret.into()));
    spec.job.secret = Some(Secret { value: secret.into(), file: None });
    let outcome = run(spec);
    assert_eq!(outcome.end, RunEnd::Exited(0), "{script}: {}", text(&outcome.stderr));
    outcome.leaks
}

#[test]
fn a_secret_is_found_in_each_encoding() {
    let leaks_of = |script: &str| {
        let found = leaks("s3cret/+ key", script).unwrap();
        found.into_iter().map(|leak| (leak.place, leak.form)).collect::<Vec<_>>()
    };
    use LeakPlace::{Stderr, Stdout};
    assert_eq!(leaks_of("echo s3cret/+"), []);
    assert_eq!(leaks_of("echo \"a $SECRET\""), [(Stdout(2), LeakEncoding::Plain)]);
    assert_eq!(leaks_of("printf %70000s; echo \"$SECRET\""), [(Stdout(70000), LeakEncoding::Plain)]);
    assert_eq!(leaks_of("printf %65530s >&2; echo \"$SECRET\" >&2"), [(Stderr(65530), LeakEncoding::Plain)]);
    for before in ["", "u:", "us:", "use:", "user:"] {
        let script = format!("printf '%s' \"{before}$SECRET,more\" | base64");
        assert_eq!(
            leaks_of(&script).iter().map(|(_, form)| *form).collect::<Vec<_>>(),
            [LeakEncoding::Base64],
            "{before}"
        );
    }
    assert_eq!(leaks_of("echo 's3cret%2F%2B%20key'"), [(Stdout(0), LeakEncoding::Percent)]);
    assert_eq!(leaks_of("echo 's3cret%2f%2b%20key'"), [(Stdout(0), LeakEncoding::Percent)]);
    let file = |area, path: &str, mode| (LeakPlace::File(area, path.into(), mode), LeakEncoding::Plain);
    assert_eq!(
        leaks_of("echo \"$SECRET\" >a; umask 077; echo \"$SECRET\" >\"$HOME/.b\""),
        [file(Area::Workspace, "a", 0o644), file(Area::Home, ".b", 0o600)]
    );
    assert_eq!(leaks("short", "echo short"), None);
    assert_eq!(run(with_snapshots(sh("true", Variant::Plain))).leaks, None);
}

#[test]
fn a_secret_file_is_readable_only_by_its_owner() {
    let mut spec = sh("stat -c %a \"$0\"; cat \"$0\"", Variant::Plain);
    spec.job.args.push("FILE".into());
    spec.job.secret = Some(Secret { value: "a secret".into(), file: Some("FILE".into()) });
    let outcome = run(spec);
    // The secret is redacted in stdout.
    assert_eq!(text(&outcome.stdout), "600\n********\n", "{}", text(&outcome.stderr));
}

#[test]
fn a_process_that_detaches_on_the_signal_is_found() {
    let flees = "trap 'setsid sleep 60 </dev/null >/dev/null 2>&1 & exit 143' TERM; echo begun; while :; do sleep 0.1; done";
    let outcome = run(interrupted_run(flees));
    assert_eq!((outcome.end, outcome.left_behind.len()), (RunEnd::Exited(143), 1));
    let Leftover { pid, .. } = outcome.left_behind[0];
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
}

#[test]
fn endless_connections_to_the_stalled_server_time_out() {
    let script = "import socket, sys\n\
        host, port = sys.argv[1].split(':')\n\
        while True:\n\
        \x20   with socket.create_connection((host, int(port))) as server:\n\
        \x20       server.sendall(b'hello')";
    let mut spec = python(script, Variant::Plain);
    spec.job.args.push("PLACE".into());
    spec.job.stalled_server_placeholder = Some("PLACE".into());
    spec.job.deadline = Duration::from_secs(1);
    let outcome = run(spec);
    assert_eq!(outcome.end, RunEnd::TimedOut);
    assert!(outcome.connections.unwrap() > 100);
}
