//! Runs of explored calls, which the user has not declared: whatever the configuration grants does not apply to them.

use crate::runs::{finish, options, text};
use agentnative::config::{CallConfig, Isolation, TargetConfig};
use agentnative::model::{CallGroup, CallOutcome, ExploredOrigin, OutputFormat, ProbeId, Variant};
use agentnative::probe::{
    CONTROL_PLACEHOLDER, LONG_PLACEHOLDER, Probe, RunEnvironment, SURROGATE_PLACEHOLDER, TargetProfile,
    run_specs,
};
use agentnative::run::{
    Confinement, Limit, Limits, Observation, RequestedConfinement, RunEnd, RunKey, RunSpec, Workspace,
};
use agentnative::targets::Target;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const MIB: u64 = 1 << 20;

fn probe(args: &[&str]) -> Probe {
    let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
    let origin = ExploredOrigin {
        command: Vec::new(),
        group: CallGroup::Commands,
        outcome: CallOutcome::Succeeded,
        is_kept: true,
        only_reads: false,
        invalid: None,
        values: Vec::new(),
    };
    Probe {
        id: ProbeId::Explored { explored: args.clone(), stdin: None },
        name: args.join(" "),
        call: CallConfig { args, ..CallConfig::default() },
        asks_format: false,
        exit: None,
        formats: vec![OutputFormat::Text],
        flag_position: None,
        effect: None,
        timeout: Duration::from_secs(10),
        writes: true,
        explored: Some(origin),
    }
}

/// Returns a script as a target that grants its declared calls all that a configuration can grant.
fn generous_target(script: &str) -> Target {
    Target {
        name: "cli".into(),
        program: "/bin/sh".into(),
        prefix_args: ["-c", script, "cli"].map(Into::into).into(),
        cwd: env!("CARGO_TARGET_TMPDIR").into(),
        project: None,
        package: None,
        config: TargetConfig {
            isolation: Isolation::None,
            network: true,
            writes: true,
            env: [("DECLARED".to_owned(), "1".to_owned())].into(),
            pass_env: vec!["CARGO_MANIFEST_DIR".into()],
            readable: vec!["/root".into()],
            ..TargetConfig::default()
        },
    }
}

/// Returns the specification of a run of an explored call.
fn explored_run(target: &Target, probe: &Probe, variant: Variant) -> RunSpec {
    let key = RunKey { variant, ..probe.plain_run(OutputFormat::Text) };
    let around = RunEnvironment {
        home: Some("/nonexistent".into()),
        env: [("SERVICE".to_owned(), "1".to_owned())].into(),
        ports: vec![1],
        allow_unconfined: true,
        ..RunEnvironment::default()
    };
    let profile = TargetProfile::from_config(&target.config);
    run_specs(&[key], std::slice::from_ref(probe), &profile, target, &around).remove(0)
}

/// Runs an explored call. Returns `None`, with a notice, if the system has no namespaces.
fn run(target: &Target, args: &[&str]) -> Option<Observation> {
    confined(explored_run(target, &probe(args), Variant::Plain))
}

fn confined(spec: RunSpec) -> Option<Observation> {
    let run = finish(options(), vec![spec]).observations.remove(0);
    if let RunEnd::NotStarted(_, reason) = &run.end
        && reason.starts_with(RequestedConfinement::UNAVAILABLE)
    {
        eprintln!("skipped: {reason}");
        return None;
    }
    assert_eq!(run.confinement, Some(Confinement::Namespaces), "{:?}", run.end);
    Some(run)
}

#[test]
fn explored_runs_are_confined_whatever_is_configured() {
    let mut target = generous_target("");
    let plain = explored_run(&target, &probe(&["list"]), Variant::Plain).job;
    assert_eq!(plain.isolation, RequestedConfinement::Full);
    assert_eq!(plain.workspace, Some(Workspace::Empty));
    assert!(plain.undeclared && !plain.network && !plain.writes_to_start_folder);
    assert!(plain.connect.is_empty() && plain.readable.is_empty() && plain.home.is_none());
    assert_eq!(plain.env, [("DECLARED".into(), "1".into())]);
    assert_eq!(plain.limits, Limits { memory: 1024 * MIB, processes: 256, written: 64 * MIB });
    assert_eq!((plain.deadline, plain.family), (Duration::from_secs(5), None));
    let repeated = explored_run(&target, &probe(&["list"]), Variant::Repeat).job;
    assert_eq!((repeated.deadline, repeated.family), (Duration::from_secs(10), Some(0)));

    target.config.limits = Limits { memory: MIB, processes: 512, written: MIB };
    let limited = explored_run(&target, &probe(&["list"]), Variant::Plain).job;
    assert_eq!(limited.limits, Limits { memory: MIB, processes: 256, written: MIB });
}

#[test]
fn explored_runs_receive_no_variables_of_the_caller() {
    let Some(run) = run(&generous_target("env | cut -d= -f1 | grep -v '_ROOT$\\|_HOME$' | sort"), &[]) else {
        return;
    };
    let names = text(&run.stdout);
    assert!(names.lines().any(|name| name == "DECLARED"), "{names}");
    let known = ["DECLARED", "HOME", "LANG", "PATH", "PWD", "TERM", "TMPDIR", "TZ"];
    let others: Vec<&str> = names
        .lines()
        .filter(|name| !known.contains(name) && !name.starts_with("XDG_") && !name.starts_with("AGENTNATIVE"))
        .collect();
    assert_eq!(others, ["OLDPWD"; 0], "{names}");
}

#[test]
fn explored_runs_have_no_network() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let python = crate::python::program();
    let connect = "import socket, sys; socket.create_connection(sys.argv[1].rsplit(chr(58), 1), 2)";
    let target = generous_target(&format!("exec {} -c '{connect}' \"$1\" 2>/dev/null", python.display()));
    let Some(refused) = run(&target, &[&listener.local_addr().unwrap().to_string()]) else { return };
    assert_eq!(refused.end, RunEnd::Exited(1));
    let reached = run(&target, &["{stalled}"]).unwrap();
    assert_eq!((&reached.end, reached.connections), (&RunEnd::Exited(0), Some(1)));
}

#[test]
fn explored_runs_end_at_their_limits() {
    let python = crate::python::program();
    let memory =
        format!("exec {} -c 'import time; x = b\"x\" * (1200 << 20); time.sleep(60)'", python.display());
    for (script, limit) in [
        ("exec head -c 200000000 /dev/zero >file", Limit::Written(64 * MIB)),
        ("for n in $(seq 300); do sleep 60 & done; wait", Limit::Processes(256)),
        (&memory, Limit::Memory(1024 * MIB)),
    ] {
        let Some(run) = run(&generous_target(script), &[]) else { return };
        assert_eq!(run.end, RunEnd::TooMuch(limit), "{script}: {}", text(&run.stderr));
        assert!(run.left_behind.iter().all(|left| !left.survives), "{script}");
    }
}

#[test]
fn placeholders_stand_for_bytes() {
    let target = generous_target("printf %s \"$1\" | od -An -tx1 -v | tr -d ' \\n'");
    let word = |placeholder: &str| format!("a{placeholder}b");
    let Some(control) = run(&target, &[&word(CONTROL_PLACEHOLDER)]) else { return };
    assert_eq!(text(&control.stdout), "610162");
    assert_eq!(control.argv.last().unwrap(), "a\u{1}b");
    let surrogate = run(&target, &[&word(SURROGATE_PLACEHOLDER)]).unwrap();
    assert_eq!(text(&surrogate.stdout), "61eda08062");
    assert_eq!(surrogate.argv.last().unwrap(), r"a\xed\xa0\x80b");
    let long = run(&target, &[LONG_PLACEHOLDER]).unwrap();
    assert_eq!(text(&long.stdout), "61".repeat(1 << 16));
    assert_eq!(long.argv.last().unwrap(), "aaaaaaaaaaaaaaaa… (65536 bytes)");
}

/// Replaces `/dev` by a folder with accelerators.
const MAKE_ACCELERATORS: &str = "
mount -t tmpfs tmpfs /mnt && cd /mnt && mkdir dri pts shm && echo card >dri/card0 && echo compute >nvidia-test || exit
for name in full null random tty urandom zero; do touch $name && mount --bind /dev/$name $name; done
cd / && mount --rbind /mnt /dev && exec \"$0\" \"$@\"";

#[test]
fn explored_runs_see_neither_accelerators_nor_selected_versions() {
    if !Path::new("/dev/nvidia-test").exists() {
        let tools = tempfile::tempdir().unwrap();
        let shims = tools.path().join("shims").into_os_string().into_string().unwrap();
        let name = "run::explored::explored_runs_see_neither_accelerators_nor_selected_versions";
        let output = Command::new("unshare")
            .args(["-U", "-r", "-m", "sh", "-c", MAKE_ACCELERATORS])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", name, "--nocapture"])
            .env("PATH", format!("{}:{shims}", std::env::var("PATH").unwrap()))
            // The temporary folder may be below the folder that is replaced.
            .env("TMPDIR", "/tmp")
            .envs([("PYENV_ROOT", tools.path()), ("PYENV_VERSION", Path::new("3.1"))])
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        match printed.contains("running 1 test") {
            true => assert!(printed.contains("1 passed"), "{printed}"),
            false => eprintln!("skipped: no devices can be made here: {printed}"),
        }
        return;
    }
    // No run can open a device outside of `/dev`.
    let script =
        "cat /dev/nvidia-test /dev/dri/*; cat /dev/null /mnt/null && echo opened; echo \"$PYENV_VERSION\"";
    let explored = explored_run(&generous_target(script), &probe(&[]), Variant::Plain);
    let mut declared = explored.clone();
    declared.job.undeclared = false;
    let Some(explored) = confined(explored) else { return };
    assert_eq!(text(&explored.stdout), "\n");
    assert_eq!(text(&confined(declared).unwrap().stdout), "compute\ncard\n3.1\n");
}
