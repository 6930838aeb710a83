//! Templates, workspaces and services of runs.

use super::{run, sh};
use crate::runs::{below_helpers, children, finish, options, text};
use agentnative::model::Variant;
use agentnative::run::{
    Job, Outcome, Ready, RequestedConfinement, RunEnd, Runner, Service, ServiceStart, Template, TemplateFile,
    Waiting, Workspace, free_port,
};
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::time::{Duration, SystemTime};

#[test]
fn each_run_starts_in_its_own_copy_of_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    fs::write(folder.path().join("sub/tool"), "#!/bin/sh\n").unwrap();
    fs::set_permissions(folder.path().join("sub/tool"), fs::Permissions::from_mode(0o555)).unwrap();
    symlink("sub/tool", folder.path().join("link")).unwrap();
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    fs::File::open(folder.path().join("sub/tool")).unwrap().set_modified(then).unwrap();
    fs::File::open(folder.path().join("sub")).unwrap().set_modified(then).unwrap();
    fs::set_permissions(folder.path().join("sub"), fs::Permissions::from_mode(0o555)).unwrap();

    let mut runner = Runner::new(options());
    let copy =
        runner.store_template(Template::Folder { from: folder.path().into(), is_bounded: false }).unwrap();
    // Later changes of the folder do not affect the runs.
    fs::write(folder.path().join("late"), "").unwrap();
    let script = "ls -A; readlink link; stat -c '%a %Y %n' sub sub/tool; touch made; rm link; pwd";
    let mut spec = sh(script, Variant::Plain);
    spec.job.workspace = Some(Workspace::Copy(copy));
    let mut empty = sh("ls -A; pwd; case $PWD in \"${HOME%/home}\"/*) ;; *) exit 1;; esac", Variant::Plain);
    empty.job.workspace = Some(Workspace::Empty);
    let observations = runner.run_all(vec![spec.clone(), spec, empty], &mut |_| {}).unwrap().observations;
    let printed: Vec<String> = observations.iter().map(|observation| text(&observation.stdout)).collect();
    for observation in &observations {
        assert_eq!(observation.end, RunEnd::Exited(0), "{}", text(&observation.stderr));
        let place = text(&observation.stdout);
        assert!(!fs::exists(place.lines().last().unwrap()).unwrap(), "{place} is still there");
    }
    let found = "link\nsub\nsub/tool\n555 1000000000 sub\n555 1000000000 sub/tool\n";
    assert!(printed[0].starts_with(found) && printed[1].starts_with(found), "{printed:?}");
    assert_eq!(printed[2].lines().count(), 1);
    assert_ne!(printed[0].lines().last(), printed[1].lines().last());
    fs::set_permissions(folder.path().join("sub"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn each_run_has_its_own_copy_of_the_home_files() {
    let mut runner = Runner::new(options());
    let file = |path: &str, bytes: &[u8]| TemplateFile { path: path.into(), bytes: bytes.into() };
    let files = vec![file(".config/a/x.toml", b"\xff\0x"), file("y", b"")];
    let home = runner.store_template(Template::Files(files)).unwrap();
    let script = "cd; find . | sort; od -An -tx1 .config/a/x.toml; stat -c %a y; echo more >>y";
    let mut spec = sh(script, Variant::Plain);
    spec.job.home = Some(home);
    for observation in runner.run_all(vec![spec.clone(), spec], &mut |_| {}).unwrap().observations {
        let expected = ".\n./.config\n./.config/a\n./.config/a/x.toml\n./y\n ff 00 78\n600\n";
        assert_eq!(text(&observation.stdout), expected);
    }
    // Other runners are not affected, and a missing folder is an error.
    assert_eq!(text(&run(sh("ls -A ~", Variant::Plain)).stdout), "");
    let missing = runner
        .store_template(Template::Folder { from: "/no/such/folder".into(), is_bounded: false })
        .unwrap_err();
    assert!(missing.message.contains("cannot copy the initial files of the runs"), "{missing}");
}

fn service(script: &str, ready: Ready) -> Service {
    let job = Job { deadline: Duration::from_secs(60), ..sh(script, Variant::Plain).job };
    Service { job, ready }
}

fn line(text: &str) -> Ready {
    Ready::Line(text.to_owned())
}

/// Script of a server that answers nothing and has a child and a daemon.
fn listener_script(port: u16) -> String {
    let python = crate::python::program();
    let script = format!(
        "import socket,time; s=socket.create_server((\"127.0.0.1\", {port})); print(\"up\", flush=True); time.sleep(1000)"
    );
    format!("setsid sleep 1000 & sleep 1000 & exec {} -c '{script}'", python.display())
}

fn expect_ended(served: ServiceStart) -> Outcome {
    match served {
        ServiceStart::Ended(observation) => observation.outcome,
        other => panic!("{other:?}"),
    }
}

#[test]
fn services_run_next_to_the_runs_until_they_are_stopped() {
    crate::own_process::in_own_process(
        "run::services::services_run_next_to_the_runs_until_they_are_stopped",
        || {
            let mut runner = Runner::new(options());
            let port = free_port().unwrap();
            assert!(matches!(
                runner.start_service(service(&listener_script(port), Ready::Port(port))).unwrap(),
                ServiceStart::Ready
            ));
            // A line is found on either stream, in two parts, and after much other output.
            let late =
                "yes | head -c 3000000; printf ' 12 list' >&2; sleep 0.1; printf 'ening\\n' >&2; sleep 1000";
            assert!(matches!(
                runner.start_service(service(late, line("12 listening"))).unwrap(),
                ServiceStart::Ready
            ));

            let connect = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo there");
            let mut spec = sh(&connect, Variant::Plain);
            spec.job.program = "/bin/bash".into();
            let confined =
                [RequestedConfinement::Landlock, RequestedConfinement::Available].map(|isolation| {
                    let mut confined = spec.clone();
                    (confined.job.isolation, confined.job.connect) = (isolation, vec![port]);
                    confined
                });
            let leaves = sh("setsid sleep 1000 >/dev/null 2>&1 & sleep 0.1", Variant::Plain);
            let specs = [spec].into_iter().chain(confined).chain([leaves]).collect();
            let observations = runner.run_all(specs, &mut |_| {}).unwrap().observations;
            for connected in &observations[..3] {
                assert_eq!(text(&connected.stdout), "there\n", "{}", text(&connected.stderr));
            }
            // Processes that a run leaves behind are found, and processes of services are not counted as such.
            assert_eq!(
                observations.iter().map(|observation| observation.left_behind.len()).collect::<Vec<_>>(),
                [0, 0, 0, 1]
            );

            // A port that another program uses is an error.
            let taken = expect_ended(runner.start_service(service("sleep 1000", Ready::Port(port))).unwrap());
            let words = format!("another program already listens on port {port}");
            assert_eq!(taken.end, RunEnd::NotStarted(0, words));

            let ends = runner.end_services().unwrap();
            assert_eq!(
                ends.iter().map(|observation| &observation.end).collect::<Vec<_>>(),
                [&RunEnd::Interrupted; 2]
            );
            assert_eq!(below_helpers(), Vec::<String>::new());
            assert_eq!(runner.end_services().unwrap().len(), 0);
        },
    );
}

#[test]
fn a_service_that_never_becomes_ready_leaves_no_process() {
    crate::own_process::in_own_process(
        "run::services::a_service_that_never_becomes_ready_leaves_no_process",
        || {
            let mut runner = Runner::new(options());
            let daemon = "setsid sleep 1000 >/dev/null 2>&1 & ";
            // A service that exits, or becomes a daemon, before it is ready.
            let fails = format!("{daemon} echo 'no licence' >&2; exit 3");
            let outcome = expect_ended(runner.start_service(service(&fails, line("ready"))).unwrap());
            assert_eq!((outcome.end, text(&outcome.stderr)), (RunEnd::Exited(3), "no licence\n".to_owned()));
            let port = free_port().unwrap();
            let outcome = expect_ended(
                runner.start_service(service(&format!("{daemon} exit 0"), Ready::Port(port))).unwrap(),
            );
            assert_eq!(outcome.end, RunEnd::Exited(0));
            // A service that ignores SIGTERM until its deadline.
            let mut stubborn =
                service(&format!("trap '' TERM; {daemon} echo starting; sleep 1000"), line("ready"));
            stubborn.job.deadline = Duration::from_millis(300);
            let outcome = expect_ended(runner.start_service(stubborn).unwrap());
            assert_eq!((outcome.end, outcome.waiting), (RunEnd::TimedOut, Some(Waiting::Asleep)));
            assert_eq!(text(&outcome.stdout), "starting\n");
            let mut missing = service("", line("ready"));
            missing.job.program = "/no/such/program".into();
            let outcome = expect_ended(runner.start_service(missing).unwrap());
            assert_eq!(outcome.end, RunEnd::NotStarted(2, "No such file or directory".into()));
            assert_eq!(below_helpers(), Vec::<String>::new());

            // A service that ends by itself keeps its end.
            let folder = tempfile::tempdir().unwrap();
            let in_folder = |script: &str| format!("cd '{}' && {script}", folder.path().display());
            let waits = in_folder("echo $$ >pid && mkfifo fifo && echo ready && read x <fifo; exit 4");
            assert!(matches!(
                runner.start_service(service(&waits, line("ready"))).unwrap(),
                ServiceStart::Ready
            ));
            let end_service = in_folder("echo >fifo && while kill -0 $(cat pid); do sleep 0.01; done");
            runner.run_all(vec![sh(&end_service, Variant::Plain)], &mut |_| {}).unwrap();
            assert!(matches!(
                runner
                    .start_service(service(&format!("{daemon} echo ready; exec sleep 1000"), line("ready")))
                    .unwrap(),
                ServiceStart::Ready
            ));
            let ends = runner.end_services().unwrap();
            assert_eq!([&ends[0].end, &ends[1].end], [&RunEnd::Exited(4), &RunEnd::Interrupted]);
            runner
                .start_service(service(&format!("{daemon} echo ready; exec sleep 1000"), line("ready")))
                .unwrap();
            drop(runner);
            assert_eq!(children(), Vec::<String>::new());
        },
    );
}

#[test]
fn output_that_is_shown_is_not_captured() {
    // Output is shown only if the options of the runner allow it.
    let mut spec = sh("echo out; echo err >&2", Variant::Plain);
    spec.job.shows_output = true;
    let outcome = run(spec.clone());
    assert_eq!((text(&outcome.stdout), text(&outcome.stderr)), ("out\n".into(), "err\n".into()));
    if std::env::var_os("AGAIN").is_some() {
        let mut options = options();
        options.show = true;
        let observation = finish(options, vec![spec]).observations.remove(0);
        assert_eq!(
            (observation.stdout.bytes.len(), observation.stderr.bytes.len(), observation.outcome.end),
            (0, 0, RunEnd::Exited(0))
        );
        return;
    }
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    again
        .args(["--exact", "run::services::output_that_is_shown_is_not_captured", "--nocapture"])
        .env("AGAIN", "1");
    let output = again.output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr).matches("out\nerr\n").count(), 1, "{output:?}");
}
