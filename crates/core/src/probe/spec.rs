//! Converts the planned runs to the jobs that the runner executes.

use super::placeholders::replace_placeholder;
use super::{Probe, TargetProfile};
use crate::catalogue::DerivedKind;
use crate::config::{FILE_PLACEHOLDER, Isolation, PORT_PLACEHOLDER, STALLED_PLACEHOLDER, Workspace};
use crate::model::{OutputFormat, ProbeId, Variant, terminal_columns};
use crate::run::{
    self, Interruption, Job, Limits, RunKey, RunSpec, Secret, SetupCall, StopSignal, TripwirePurpose,
};
use crate::targets::Target;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

/// What the runs of a target have in common besides their probes: templates of folders, services and protected files.
#[derive(Debug, Clone, Default)]
pub struct RunEnvironment {
    /// Path of the template folder that is copied as the home folder of each run.
    pub home: Option<OsString>,
    /// Paths of the template folders that are copied as workspaces, by the folders that the configuration names.
    pub workspaces: BTreeMap<PathBuf, OsString>,
    /// The environment variables that services add to the runs.
    pub env: BTreeMap<String, String>,
    /// The port of the service, if there is exactly one. It replaces `{port}` in arguments and variables of probes.
    pub port: Option<u16>,
    /// The TCP ports of all services.
    pub ports: Vec<u16>,
    /// Whether probes that change something run even if they cannot be confined.
    pub allow_unconfined: bool,
    /// Path of the project folder of the target.
    pub project: Option<OsString>,
    /// Paths of the files and folders that no run may write to.
    pub protected: Vec<OsString>,
}

impl RunEnvironment {
    /// Replaces `{port}` by the port of the service, if there is exactly one service.
    fn insert_port(&self, text: &str) -> String {
        self.port.map_or_else(|| text.to_owned(), |port| place_port(text, port))
    }

    /// Returns the confinement that a run requests: the configured one, or a stronger one if the probe changes
    /// something.
    fn isolation(&self, configured: Isolation, probe: &Probe) -> run::RequestedConfinement {
        let configured = match configured {
            Isolation::None => run::RequestedConfinement::None,
            Isolation::Landlock => run::RequestedConfinement::Landlock,
            Isolation::Auto => run::RequestedConfinement::Available,
            Isolation::Require => run::RequestedConfinement::Full,
        };
        configured.max(match (probe.is_confined(), self.allow_unconfined) {
            // A subcommand that ignores `--help` and does its work must not change anything here.
            (false, _) if probe.is_kind(DerivedKind::Interface) => run::RequestedConfinement::Available,
            (false, _) => run::RequestedConfinement::None,
            (true, false) => run::RequestedConfinement::Required,
            (true, true) => run::RequestedConfinement::Available,
        })
    }

    fn workspace(&self, workspace: &Workspace) -> run::Workspace {
        match workspace {
            Workspace::Copy(folder) if let Some(template) = self.workspaces.get(folder) => {
                run::Workspace::Copy(template.clone())
            }
            Workspace::Copy(_) | Workspace::Empty => run::Workspace::Empty,
        }
    }
}

/// Replaces `{port}` in a text by the given port of a service.
pub fn place_port(text: &str, port: u16) -> String {
    text.replace(PORT_PLACEHOLDER, &port.to_string())
}

/// Returns the specification of each run in `keys`, in their order. Runs of unknown probes are omitted.
pub fn run_specs(
    keys: &[RunKey],
    probes: &[Probe],
    profile: &TargetProfile,
    target: &Target,
    around: &RunEnvironment,
) -> Vec<RunSpec> {
    let by_id: BTreeMap<&ProbeId, (u32, &Probe)> =
        probes.iter().zip(0..).map(|(probe, nth)| (&probe.id, (nth, probe))).collect();
    let by_name: BTreeMap<&str, &Probe> = probes.iter().map(|probe| (&*probe.name, probe)).collect();
    let tripwires = TripwirePurpose::ALL.into_iter().flat_map(TripwirePurpose::programs);
    let own_programs: Vec<String> =
        tripwires.filter(|name| target.provides(name)).map(|name| (*name).to_owned()).collect();
    keys.iter()
        .filter_map(|key| {
            let (nth, probe) = *by_id.get(&key.probe)?;
            let source = probe.source().and_then(|name| by_name.get(name).copied());
            let mut spec = spec(key, (nth, probe), source, profile, target, around);
            spec.job.unreplaced_programs.clone_from(&own_programs);
            Some(spec)
        })
        .collect()
}

fn spec(
    key: &RunKey,
    (nth, probe): (u32, &Probe),
    source: Option<&Probe>,
    profile: &TargetProfile,
    target: &Target,
    around: &RunEnvironment,
) -> RunSpec {
    let words = |args: &[String]| -> Vec<OsString> {
        let args = args.iter().map(|word| match probe.explored {
            Some(_) => replace_placeholder(word.clone()),
            None => around.insert_port(word).into(),
        });
        target.prefix_args.iter().cloned().chain(args).collect()
    };
    let env_of = |probe: &Probe| -> Vec<(OsString, OsString)> {
        let from_services = around.env.iter().map(|(name, value)| (name.into(), value.into()));
        let declared =
            probe.call.env.iter().map(|(name, value)| (name.into(), around.insert_port(value).into()));
        target.env(|name| std::env::var_os(name)).into_iter().chain(from_services).chain(declared).collect()
    };
    let mut env = env_of(probe);
    let mut stdin = probe.call.stdin.as_ref().map(|bytes| bytes.as_slice().into());
    let secret = secret(probe, profile, &env);
    if let Some(config) = profile.conventions.secret.as_ref().filter(|_| lacks_variable(probe, &secret)) {
        env.retain(|(name, _)| *name != *config.env);
    }
    if let Some(secret) = secret.as_ref().filter(|_| probe.is_kind(DerivedKind::SecretStdin)) {
        stdin = Some([secret.value.as_encoded_bytes(), b"\n"].concat().into());
    }
    // The setup calls run as declared, without the changes of a derived call.
    let setup = probe.call.setup.iter().map(|args| SetupCall {
        args: words(args),
        env: env_of(source.unwrap_or(probe)),
        interrupt: None,
    });
    let interrupted = probe.is_kind(DerivedKind::After).then(|| SetupCall {
        args: words(&probe.args_in(key.format, profile)),
        env: env.clone(),
        interrupt: interruption(probe, StopSignal::Terminate),
    });
    let interrupt = match probe.id.kind() {
        Some(DerivedKind::Interrupted) => interruption(probe, StopSignal::Terminate),
        Some(DerivedKind::Sigint) => interruption(probe, StopSignal::Interrupt),
        _ => None,
    };
    let mut job = Job {
        program: target.program.clone().into(),
        args: words(&probe.args_in(key.format, profile)),
        cwd: probe.call.cwd.clone().unwrap_or_else(|| target.cwd.clone()).into(),
        workspace: probe.call.workspace.as_ref().map(|workspace| around.workspace(workspace)),
        setup: setup.chain(interrupted).collect(),
        interrupt,
        stalled_server_placeholder: probe.is_stalled().then(|| STALLED_PLACEHOLDER.to_owned()),
        home: around.home.clone(),
        config_file: target.config.conventions.config_file.as_ref().map(OsString::from),
        snapshots: needs_snapshots(probe, key.variant) || secret.is_some(),
        secret,
        env,
        is_doubled: probe.is_kind(DerivedKind::Concurrent),
        columns: terminal_columns(key.format),
        variant: key.variant,
        environment: key.nth,
        stdin,
        deadline: probe.timeout,
        limits: target.config.limits,
        isolation: around.isolation(target.config.isolation, probe),
        connect: around.ports.clone(),
        network: (target.config.network || probe.call.network) && !probe.is_kind(DerivedKind::VanishedOption),
        family: Some(nth * OutputFormat::ALL.len() as u32 + key.format as u32),
        // The times at which records arrive are evidence, which other runs must not disturb.
        runs_alone: probe.call.stream
            && key.format == OutputFormat::Jsonl
            && matches!(key.variant, Variant::Plain | Variant::Tty),
        skip_reason: None,
        // Only declared calls may make permanent changes.
        writes_to_start_folder: probe.writes && probe.is_declared(),
        project: around.project.clone(),
        protected: around.protected.clone(),
        readable: target.config.readable.iter().map(OsString::from).collect(),
        unreplaced_programs: Vec::new(),
        trusted: false,
        shows_output: false,
        undeclared: false,
    };
    if probe.explored.is_some() {
        restrict(&mut job, key, probe, profile, target);
    }
    RunSpec { key: key.clone(), job }
}

/// Restricts the run of an explored call, which the user has not declared. It is confined by namespaces whatever is
/// configured, starts in a folder of its own, and has neither a network nor anything that the configuration grants to
/// declared calls.
fn restrict(job: &mut Job, key: &RunKey, probe: &Probe, profile: &TargetProfile, target: &Target) {
    job.undeclared = true;
    job.isolation = run::RequestedConfinement::Full;
    job.network = false;
    job.connect.clear();
    job.workspace.get_or_insert(run::Workspace::Empty);
    job.writes_to_start_folder = false;
    job.home = None;
    job.readable.clear();
    let secret = profile.conventions.secret.as_ref().map(|secret| OsStr::new(&secret.env));
    let added = probe.call.env.iter().map(|(name, value)| (name.into(), value.into()));
    let variables = target.env(|_| None).into_iter().chain(added);
    job.env = variables.filter(|(name, _)| Some(&**name) != secret).collect();
    job.secret = None;
    let Limits { memory, processes, written } = job.limits;
    job.limits = Limits {
        memory: memory.min(EXPLORED_LIMITS.memory),
        processes: processes.min(EXPLORED_LIMITS.processes),
        written: written.min(EXPLORED_LIMITS.written),
    };
    if *key == probe.plain_run(OutputFormat::Text) {
        job.deadline = job.deadline.min(EXPLORED_TIMEOUT);
        job.family = None;
    }
}

/// Maximum resources of the run of an explored call.
const EXPLORED_LIMITS: Limits = Limits { memory: 1 << 30, processes: 256, written: 64 << 20 };
/// Maximum time limit of the plain run of an explored call in text. Runs under other conditions have the time limit of
/// the target, since a call that ends just before this limit does not hang.
const EXPLORED_TIMEOUT: Duration = Duration::from_secs(5);

fn interruption(probe: &Probe, signal: StopSignal) -> Option<Interruption> {
    probe.call.interrupt.clone().map(|after| Interruption { after, signal })
}

/// Returns whether a run needs file snapshots, which show the files that it changes.
fn needs_snapshots(probe: &Probe, variant: Variant) -> bool {
    match variant {
        Variant::Xdg => true,
        Variant::Plain | Variant::Repeat => probe.call.workspace.is_some(),
        _ => false,
    }
}

/// Returns whether a call does not get the secret in an environment variable: it gets no secret, or gets it in a file
/// or on stdin.
fn lacks_variable(probe: &Probe, secret: &Option<Secret>) -> bool {
    let in_other_way = probe.is_kind(DerivedKind::SecretFile) || probe.is_kind(DerivedKind::SecretStdin);
    probe.is_kind(DerivedKind::AnonymousRequest) || secret.is_some() && in_other_way
}

/// Returns the secret of a run if the probe needs it or sets its variable in `env`; else `None`.
fn secret(probe: &Probe, profile: &TargetProfile, env: &[(OsString, OsString)]) -> Option<Secret> {
    let name = &profile.conventions.secret.as_ref()?.env;
    if !probe.call.secret && !probe.call.env.contains_key(name) {
        return None;
    }
    let (_, value) = env.iter().rev().find(|(variable, _)| **variable == **name)?;
    let file = probe.is_kind(DerivedKind::SecretFile).then(|| FILE_PLACEHOLDER.to_owned());
    Some(Secret { value: value.clone(), file })
}
