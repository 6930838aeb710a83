//! What a run changes in its workspace and its home, and the calls before it.

use super::{python, run, sh};
use crate::runs::{finish, options, text};
use agentnative::model::Variant;
use agentnative::run::{
    Area, Change, Changes, Confinement, End, EntryKind, Interruption, Isolation, Job, Leak, LeakForm,
    LeakPlace, Leftover, RunSpec, Runner, Secret, SetupCall, StopSignal, Template, TemplateFile, Workspace,
};
use std::fs;
use std::path::Path;
use std::time::Duration;

fn watched(mut spec: RunSpec) -> RunSpec {
    spec.job.workspace = Some(Workspace::Empty);
    spec.job.snapshots = true;
    spec
}

/// A call of a shell script before a run.
fn before(script: &str) -> SetupCall {
    SetupCall { args: vec!["-c".into(), script.into()], env: Vec::new(), interrupt: None }
}

/// Sign, area and path of each change.
fn told(changes: &Changes) -> Vec<String> {
    assert_eq!(changes.count, changes.list.len());
    let words = |Change { area, path, before, after }: &Change| {
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
fn what_is_made_changed_and_removed_is_told() {
    let kept = "mkdir sub; echo a >sub/a; ln -s a sub/link; echo c >c; chmod 600 c";
    let of = |script: &str| {
        let mut spec = watched(sh(script, Variant::Plain));
        spec.job.setup = vec![before(kept)];
        let seen = run(spec);
        assert_eq!(seen.end, End::Exited(0), "{script}: {}", text(&seen.stderr));
        told(&seen.changes.unwrap())
    };
    let none: [&str; 0] = [];
    assert_eq!(of("cat sub/a c"), none);
    assert_eq!(of("touch -d 2001-01-01 c; echo c >c; cp sub/a t; mv t sub/a"), none);
    assert_eq!(of("echo b >c; echo >new; rm sub/a"), ["~c", "+new", "-sub/a"]);
    assert_eq!(of("chmod 644 c; ln -sf b sub/link"), ["~c", "~sub/link"]);
    assert_eq!(of("echo >\"$HOME/.rc\"; mkdir -p \"$HOME/.x/y\""), ["+~/.rc", "+~/.x", "+~/.x/y"]);
    assert_eq!(of("rm c; mkdir c; mkfifo p"), ["~c", "+p"]);
    assert_eq!(of("echo >\"$TMPDIR/a\"; echo >\"$XDG_RUNTIME_DIR/b\""), none);
    assert_eq!(of("rm -r \"$PWD\""), ["-.", "-c", "-sub", "-sub/a", "-sub/link"]);
    assert_eq!(of("rm -r \"$PWD\"; ln -s / \"$PWD\""), ["~.", "-c", "-sub", "-sub/a", "-sub/link"]);
}

#[test]
fn a_document_has_a_shape() {
    let of = |first: &str, second: &str| {
        let mut spec = watched(sh("printf %s \"$AFTER\" >file", Variant::Plain));
        let env = vec![("BEFORE".into(), first.into())];
        spec.job.setup = vec![SetupCall { env, ..before("printf %s \"$BEFORE\" >file") }];
        spec.job.env.push(("AFTER".into(), second.into()));
        let Changes { list, .. } = run(spec).changes.unwrap();
        let [Change { before: Some(before), after: Some(after), .. }] = &list[..] else { panic!("{list:?}") };
        assert_eq!(before.kind, EntryKind::File);
        (before.shape.is_some() && after.shape.is_some()).then(|| before.shape == after.shape)
    };
    assert_eq!(of(r#"{"a": 1, "b": ["x"]}"#, r#"{"b":["y"],"a":2}"#), Some(true));
    assert_eq!(of(r#"{"a": [1]}"#, r#"{"a": [1, 2]}"#), Some(false));
    assert_eq!(of(r#"{"a": 1}"#, r#"{"a": "1"}"#), Some(false));
    assert_eq!(of("a", "b"), None);
    assert_eq!(of("123", "456"), None);
}

#[test]
fn where_there_is_too_much_nothing_is_told() {
    let many = "for n in range(25000): open(f'{n}', 'w').close()";
    assert_eq!(run(watched(python(many, Variant::Plain))).changes, None);
    let some = "for n in range(1500): open(f'{n}', 'w').close()";
    let Changes { count, list } = run(watched(python(some, Variant::Plain))).changes.unwrap();
    assert_eq!((count, list.len()), (1500, Changes::MOST));
    // A hole of the size of all that is read.
    assert_eq!(run(watched(sh("truncate -s 1200M hole", Variant::Plain))).changes, None);
    assert_eq!(run(sh("echo >file", Variant::Plain)).changes, None);
}

#[test]
fn a_workspace_is_a_copy_and_so_is_the_home() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("kept"), "kept\n").unwrap();
    let mut runner = Runner::new(options());
    let template = runner.keep(Template::Folder { from: folder.path().into(), is_bounded: false }).unwrap();
    let rc = TemplateFile { path: ".rc".into(), bytes: b"rc\n".to_vec() };
    let home = runner.keep(Template::Files(vec![rc])).unwrap();
    let mut spec = watched(sh("cat kept ~/.rc; echo new | tee kept >~/.rc", Variant::Plain));
    spec.job.workspace = Some(Workspace::Copy(template));
    spec.job.home = Some(home);
    let seen = runner.run_all_blocking(vec![spec.clone(), spec], &mut |_| {}).unwrap().observations;
    for seen in seen {
        assert_eq!(text(&seen.stdout), "kept\nrc\n");
        assert_eq!(told(&seen.outcome.changes.unwrap()), ["~kept", "~~/.rc"]);
    }
    assert_eq!(fs::read_to_string(folder.path().join("kept")).unwrap(), "kept\n");
}

#[test]
fn a_call_that_fails_before_a_run_keeps_it_from_being_made() {
    let with = |setup: &[&str], script: &str| {
        let mut spec = watched(sh(script, Variant::OpenStdin));
        spec.job.setup = setup.iter().map(|script| before(script)).collect();
        spec.job.deadline = Duration::from_secs(20);
        run(spec)
    };
    let seen = with(&["echo 1 >a", "cat a; cp a b"], "cat a b; cp a c");
    assert_eq!((&seen.end, text(&seen.stdout).as_str()), (&End::Exited(0), "1\n1\n"));
    assert_eq!(told(&seen.changes.unwrap()), ["+c"]);
    for (script, how) in [("exit 3", "exited with 3"), ("kill -9 $$", "was terminated by signal 9")] {
        let seen = with(&["true", script], "echo made");
        let End::NotStarted(_, words) = &seen.end else { panic!("{script}: {:?}", seen.end) };
        assert!(words.contains(how) && words.contains(script), "{words}");
        assert_eq!((text(&seen.stdout).as_str(), seen.changes), ("", None));
    }
    // What goes over a limit of ours is no failure of the call.
    let seen = with(&["true", "yes"], "echo made");
    assert!(matches!(seen.end, End::TooMuch(_)), "{:?}", seen.end);
    assert_eq!((text(&seen.stdout).as_str(), seen.changes), ("", None));
}

/// Tries to write everywhere but in its own folders.
const ESCAPES: &str = r#"
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
fn what_is_confined_changes_nothing_outside() {
    let outside = tempfile::tempdir().unwrap();
    let kept = outside.path().join("kept");
    fs::write(&kept, "kept").unwrap();
    for (isolation, way) in
        [(Isolation::Landlock, Confinement::Landlock), (Isolation::Required, Confinement::Namespaces)]
    {
        let mut spec = watched(python(ESCAPES, Variant::Plain));
        spec.job.args.push(outside.path().into());
        spec.job.isolation = isolation;
        let finished = finish(options(), vec![spec]);
        let seen = &finished.observations[0];
        if finished.confinement != Some(way) {
            eprintln!("skipped: this system has no {way:?}, but {:?}", finished.confinement);
            continue;
        }
        // In namespaces, a folder beside its own is empty and its own as well.
        let escaped = if way == Confinement::Namespaces { "escaped 13\n" } else { "" };
        assert_eq!(
            (&seen.end, text(&seen.stdout).as_str()),
            (&End::Exited(0), escaped),
            "{way:?}: {}",
            text(&seen.stderr)
        );
        let left: Vec<_> = fs::read_dir(outside.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(left, std::slice::from_ref(&kept));
        assert_eq!(fs::read_to_string(Path::new(&kept)).unwrap(), "kept");
    }
}

fn begun(signal: StopSignal) -> Option<Interruption> {
    Some(Interruption { after: "begun".into(), signal })
}

fn interrupted(script: &str) -> RunSpec {
    let mut spec = watched(sh(script, Variant::Plain));
    spec.job.interrupt = begun(StopSignal::Terminate);
    spec.job.deadline = Duration::from_secs(60);
    spec
}

#[test]
fn a_run_is_interrupted_once_it_has_begun() {
    let handles = "trap 'echo >stopped; exit 143' TERM; echo begun >&2; for i in 1 2 3 4 5 6 7 8 9; do sleep 0.2; done; echo >done";
    let seen = run(interrupted(handles));
    assert_eq!((&seen.end, told(&seen.changes.unwrap())), (&End::Exited(143), vec!["+stopped".into()]));
    assert!(seen.signalled.unwrap() < Job::GRACE);
    let dies = run(interrupted("echo begun; exec sleep 60"));
    assert_eq!((dies.end, dies.signalled.is_some()), (End::Signaled(15), true));
    let never = run(interrupted("echo over"));
    assert_eq!((never.end, never.signalled), (End::Exited(0), None));
    // The leader alone is told.
    let child = run(interrupted("sleep 60 </dev/null >/dev/null 2>&1 & echo begun; wait"));
    assert_eq!((child.end, child.left_behind.len()), (End::Signaled(15), 1));
    let deaf = run(interrupted("trap '' TERM; echo begun; sleep 60"));
    assert_eq!(deaf.end, End::TimedOut);
    assert!(deaf.signalled.unwrap() >= Job::GRACE && deaf.duration < Duration::from_secs(30));
    assert!(deaf.left_behind.is_empty());
}

#[test]
fn sigint_reaches_the_whole_group_as_from_a_terminal() {
    let stopped = |script: &str| {
        let mut spec = interrupted(script);
        spec.job.interrupt = begun(StopSignal::Interrupt);
        run(spec)
    };
    let child = stopped("echo begun; sleep 60; echo after");
    assert_eq!((&child.end, child.left_behind.len()), (&End::Signaled(2), 0));
    assert!(child.signalled.unwrap() < Job::GRACE);
    let handled = stopped("trap 'exit 130' INT; echo begun; sleep 60");
    assert_eq!(handled.end, End::Exited(130));
}

#[test]
fn the_xdg_folders_can_be_beside_the_home() {
    let mut runner = Runner::new(options());
    let file = |path: &str| TemplateFile { path: path.into(), bytes: b"x".into() };
    let files = vec![file(".config/a/b"), file(".local/share/c"), file(".rc")];
    let home = runner.keep(Template::Files(files)).unwrap();
    let script = "ls -A ~ ~/.local; cat \"$XDG_CONFIG_HOME/a/b\" \"$XDG_DATA_HOME/c\" state; \
        echo >~/.new; mkdir \"$XDG_CACHE_HOME\"; echo >\"$XDG_CONFIG_HOME/a/b\"";
    let mut spec = watched(sh(script, Variant::Xdg));
    spec.job.setup = vec![before("mkdir \"$XDG_STATE_HOME\"; echo s >\"$XDG_STATE_HOME/s\"; echo y >state")];
    spec.job.home = Some(home);
    let seen = runner.run_all_blocking(vec![spec], &mut |_| {}).unwrap().observations.remove(0);
    assert_eq!(seen.end, End::Exited(0), "{}", text(&seen.stderr));
    assert!(text(&seen.stdout).ends_with("\nxxy\n"), "{}", text(&seen.stdout));
    assert!(!text(&seen.stdout).contains(".config"));
    assert_eq!(told(&seen.outcome.changes.unwrap()), ["+~/.new", "+xdg:cache", "~xdg:config/a/b"]);
}

#[test]
fn a_call_before_a_run_can_have_variables_of_its_own() {
    let mut spec = watched(sh("cat file; echo \"${TOKEN-none} $BRIEF\"", Variant::Plain));
    let script = "echo \"$TOKEN ${BRIEF-none}\" >file";
    let call = SetupCall { env: vec![("TOKEN".into(), "given".into())], ..before(script) };
    spec.job.setup = vec![call];
    spec.job.env = vec![("BRIEF".into(), "1".into())];
    assert_eq!(text(&run(spec).stdout), "given none\nnone 1\n");
}

#[test]
fn an_invalid_configuration_is_there_for_the_run_alone() {
    let look = "if [ -s ~/.demorc ]; then echo there; else echo none; fi";
    let mut spec = watched(sh(&format!("cat file; {look}"), Variant::Bare));
    (spec.key.nth, spec.job.nth) = (1, 1);
    spec.job.config_file = Some(".demorc".into());
    spec.job.setup = vec![before(&format!("({look}) >file"))];
    assert_eq!(text(&run(spec).stdout), "none\nthere\n");
}

#[test]
fn a_call_comes_after_one_that_was_interrupted() {
    let mut spec = watched(sh("cat half", Variant::Plain));
    let args = ["-c", "echo half >half; echo begun; exec sleep 60"].map(Into::into).to_vec();
    spec.job.setup = vec![SetupCall { args, env: vec![], interrupt: begun(StopSignal::Terminate) }];
    let seen = run(spec);
    assert_eq!((seen.end, text(&seen.stdout)), (End::Exited(0), "half\n".into()));
}

#[test]
fn a_server_takes_connections_and_never_answers() {
    let script = "import os, socket, sys\n\
        for address in sys.argv[1], os.environ['SERVER']:\n\
        \x20   host, port = address.split('/')[2].split(':')\n\
        \x20   server = socket.create_connection((host, int(port)), 0.3)\n\
        \x20   server.sendall(b'hello')\n\
        \x20   try: server.recv(1)\n\
        \x20   except TimeoutError: print('no answer')";
    for isolation in [Isolation::None, Isolation::Landlock, Isolation::Available] {
        let mut spec = python(script, Variant::Plain);
        spec.job.args.push("http://PLACE/".into());
        spec.job.env.push(("SERVER".into(), "http://PLACE/".into()));
        (spec.job.stalled, spec.job.isolation) = (Some("PLACE".into()), isolation);
        let seen = run(spec);
        assert_eq!(text(&seen.stdout), "no answer\nno answer\n", "{}", text(&seen.stderr));
        assert_eq!(seen.connections, Some(2));
    }
    assert_eq!(run(sh("true", Variant::Plain)).connections, None);
}

/// Where a script that has this secret in $SECRET shows it.
fn leaks(secret: &str, script: &str) -> Option<Vec<Leak>> {
    let mut spec = watched(sh(script, Variant::Plain));
    spec.job.env.push(("SECRET".into(), secret.into()));
    spec.job.secret = Some(Secret { value: secret.into(), file: None });
    let seen = run(spec);
    assert_eq!(seen.end, End::Exited(0), "{script}: {}", text(&seen.stderr));
    seen.leaks
}

#[test]
fn a_secret_is_found_in_each_spelling() {
    let of = |script: &str| {
        let found = leaks("s3cret/+ key", script).unwrap();
        found.into_iter().map(|leak| (leak.place, leak.form)).collect::<Vec<_>>()
    };
    use LeakPlace::{Stderr, Stdout};
    assert_eq!(of("echo s3cret/+"), []);
    assert_eq!(of("echo \"a $SECRET\""), [(Stdout(2), LeakForm::Plain)]);
    assert_eq!(of("printf %70000s; echo \"$SECRET\""), [(Stdout(70000), LeakForm::Plain)]);
    assert_eq!(of("printf %65530s >&2; echo \"$SECRET\" >&2"), [(Stderr(65530), LeakForm::Plain)]);
    for before in ["", "u:", "us:", "use:", "user:"] {
        let script = format!("printf '%s' \"{before}$SECRET,more\" | base64");
        assert_eq!(
            of(&script).iter().map(|(_, form)| *form).collect::<Vec<_>>(),
            [LeakForm::Base64],
            "{before}"
        );
    }
    assert_eq!(of("echo 's3cret%2F%2B%20key'"), [(Stdout(0), LeakForm::Percent)]);
    assert_eq!(of("echo 's3cret%2f%2b%20key'"), [(Stdout(0), LeakForm::Percent)]);
    let file = |area, path: &str, mode| (LeakPlace::File(area, path.into(), mode), LeakForm::Plain);
    assert_eq!(
        of("echo \"$SECRET\" >a; umask 077; echo \"$SECRET\" >\"$HOME/.b\""),
        [file(Area::Workspace, "a", 0o644), file(Area::Home, ".b", 0o600)]
    );
    assert_eq!(leaks("short", "echo short"), None);
    assert_eq!(run(watched(sh("true", Variant::Plain))).leaks, None);
}

#[test]
fn a_secret_is_in_a_file_for_its_owner() {
    let mut spec = sh("stat -c %a \"$0\"; cat \"$0\"", Variant::Plain);
    spec.job.args.push("FILE".into());
    spec.job.secret = Some(Secret { value: "a secret".into(), file: Some("FILE".into()) });
    let seen = run(spec);
    // The secret itself is taken out of what is told of the run.
    assert_eq!(text(&seen.stdout), "600\n********\n", "{}", text(&seen.stderr));
}

#[test]
fn who_flees_at_the_signal_is_found() {
    let flees = "trap 'setsid sleep 60 </dev/null >/dev/null 2>&1 & exit 143' TERM; echo begun; while :; do sleep 0.1; done";
    let seen = run(interrupted(flees));
    assert_eq!((seen.end, seen.left_behind.len()), (End::Exited(143), 1));
    let Leftover { pid, .. } = seen.left_behind[0];
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
}

#[test]
fn who_talks_to_the_silent_server_for_ever_is_ended() {
    let script = "import socket, sys\n\
        host, port = sys.argv[1].split(':')\n\
        while True:\n\
        \x20   with socket.create_connection((host, int(port))) as server:\n\
        \x20       server.sendall(b'hello')";
    let mut spec = python(script, Variant::Plain);
    spec.job.args.push("PLACE".into());
    spec.job.stalled = Some("PLACE".into());
    spec.job.deadline = Duration::from_secs(1);
    let seen = run(spec);
    assert_eq!(seen.end, End::TimedOut);
    assert!(seen.connections.unwrap() > 100);
}
