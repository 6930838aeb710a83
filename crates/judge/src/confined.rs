//! Attributes failures to the confinement: a run that ended differently than expected, apparently because it was
//! confined, shows no fault of the target.

use super::context::{CheckContext, RunView};
use super::verdict::{Finding, Judgement};
use agentnative_core::model::{CheckId, Confinement, Evidence, Stream, Variant};
use agentnative_core::probe::Probe;
use agentnative_core::run::{RunEnd, RunKey};

/// Parts of messages about a read-only file, as the kernel and several programming languages print them. A first letter
/// that may be a capital is omitted.
const READ_ONLY: &[&str] = &["ead-only file system", "EROFS", "os error 30)", "Errno 30]"];
/// Parts of messages about renaming a folder of the project, which a copy-on-write view of the project does not
/// support.
const CROSS_DEVICE: &[&str] = &["ross-device link", "EXDEV", "os error 18)", "Errno 18]"];
/// Parts of messages about a file that Landlock protects, or a socket that the filter of system calls rejects.
const DENIED: &[&str] = &[
    "ermission denied",
    "EACCES",
    "os error 13)",
    "Errno 13]",
    "peration not permitted",
    "EPERM",
    "os error 1)",
];
/// Parts of messages about a missing network.
const NO_NETWORK: &[&str] = &[
    "etwork is unreachable",
    "ENETUNREACH",
    "name resolution",
    "EAI_AGAIN",
    "ENOTFOUND",
    "ould not resolve",
    "failed to lookup address",
    "no such host",
    "Name or service not known",
    "nodename nor servname",
];
/// Further words in lines about a missing network. They prove nothing unless the run is known to have missed the
/// network.
const OFFLINE: &[&str] = &[
    "offline",
    "o internet",
    "ECONNREFUSED",
    "onnection refused",
    "nable to connect",
    "ould not connect",
    "annot connect",
];
/// Parts of messages about a closed stdout, of which the confinement is never the cause.
const BROKEN_PIPE: &[&str] = &["BrokenPipe", "roken pipe", "EPIPE"];
/// Parts of messages about a missing file.
const NO_FILE: &[&str] = &["o such file", "ENOENT", "os error 2)", "Errno 2]"];
/// Prefixes of paths in home folders, which are hidden from confined runs.
const HOME_PREFIXES: &[&str] = &["/home/", "/root/"];
/// Words in messages about a local service, such as D-Bus, whose socket a confined run cannot reach.
const NO_SERVICE: &[&str] = &["/run/", ".sock", "D-Bus", "dbus"];

/// A restriction of confined runs that can make a call fail.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// The folder in which the run starts is read-only and could not be copied.
    Uncopied,
    Network,
    ReadOnly,
    CrossDevice,
    /// A file in the user's home is hidden from the run.
    Home,
    Service,
}

impl Obstacle {
    const ALL: [Self; 6] =
        [Self::Uncopied, Self::Network, Self::ReadOnly, Self::CrossDevice, Self::Home, Self::Service];

    /// True if the run encountered the obstacle, according to its recorded outcome or its output.
    fn is_met_by(self, run: &RunView<'_>) -> bool {
        let Some(confinement) = run.observation.confinement.filter(|level| *level != Confinement::None)
        else {
            return false;
        };
        let is_namespaces = confinement == Confinement::Namespaces;
        let streams = || [Stream::Stderr, Stream::Stdout].into_iter().filter_map(|stream| run.lines(stream));
        let has_line_with = |all: &[&[&str]]| {
            let has = |line: &String| all.iter().all(|words| words.iter().any(|word| line.contains(word)));
            streams().flatten().any(|line| has(&line))
        };
        match self {
            Self::Uncopied => run.observation.uncopied,
            Self::Network => {
                run.observation.missed_network
                    || has_line_with(&[NO_NETWORK])
                    || !is_namespaces && has_line_with(&[&["ocket"], DENIED])
            }
            // The plain run of the call is confined in the same way.
            Self::ReadOnly if run.variant() == Variant::ReadOnlyHome => false,
            Self::ReadOnly => has_line_with(&[if is_namespaces { READ_ONLY } else { DENIED }]),
            Self::CrossDevice => is_namespaces && has_line_with(&[CROSS_DEVICE]),
            Self::Home => is_namespaces && has_line_with(&[NO_FILE, HOME_PREFIXES]),
            Self::Service => has_line_with(&[NO_SERVICE]),
        }
    }

    /// Returns two texts: what the run did, such as "seems to need the network"; and what to declare, such as
    /// `network = true`.
    const fn symptom_and_remedy(self) -> (&'static str, &'static str) {
        match self {
            Self::Uncopied => (
                "could not write to its start folder, which cannot be copied",
                "declare `writes = true` or a `workspace` for it",
            ),
            Self::Network => ("seems to need the network", "declare `network = true`"),
            Self::ReadOnly => (
                "seems to write to a place where confined runs cannot write",
                "declare a `workspace` for it, or `isolation = \"none\"`",
            ),
            Self::CrossDevice => (
                "seems to rename a folder of the project, which its copy-on-write view does not support",
                "declare a `workspace` for it, or `writes = true`",
            ),
            Self::Home => {
                ("seems to need a file of the home folder", "declare `readable`, such as `[\"~/x\"]`")
            }
            Self::Service => (
                "seems to need a service of the machine, which confined runs cannot reach",
                "declare `isolation = \"none\"`",
            ),
        }
    }

    /// True if another run shows that the obstacle is not the cause of how `run` ended. Either a run of the same call,
    /// or of a call derived from the same probe, met the obstacle and still ended as expected. Or the same call ended
    /// in the same way without meeting the obstacle.
    fn is_ruled_out(self, run: &RunView<'_>) -> bool {
        let name = |probe: &Probe| probe.source().map_or_else(|| probe.name.clone(), str::to_owned);
        let declared_name = name(run.probe);
        let mut others = run.context.runs().filter(|other| other.observation.key != run.observation.key);
        others.any(|other| {
            let is_same_call = other.probe.id == run.probe.id;
            let is_related = is_same_call || name(other.probe) == declared_name;
            // An explored call has the code with which it ended as its expected one.
            let expected = other.probe.exit.filter(|code| *code == 0 || other.probe.explored.is_none());
            let ended_as_expected = is_related && expected.is_some() && other.exit() == expected;
            let ended_alike = is_same_call && other.observation.end == run.observation.end;
            ended_as_expected && self.is_met_by(&other) || ended_alike && !self.is_met_by(&other)
        })
    }
}

/// Removes the findings from a judgement that the confinement may have caused. Each becomes a reason why the check is
/// undecided.
pub(super) fn attribute_to_confinement(
    context: &CheckContext,
    check: CheckId,
    judgement: Judgement,
) -> Judgement {
    let Judgement::Violated(findings, mut reasons) = judgement else { return judgement };
    let mut left = Vec::new();
    for finding in findings {
        match obstacles_for(context, check, &finding) {
            Some((run, obstacles)) => {
                let (what, remedies): (Vec<_>, Vec<_>) =
                    obstacles.into_iter().map(Obstacle::symptom_and_remedy).unzip();
                let (what, remedies) = (what.join(", or "), remedies.join(", or "));
                reasons.push(format!("{} {what}: {remedies}", run.label()).into());
            }
            None => left.push(finding),
        }
    }
    if left.is_empty() { Judgement::Unverified(reasons) } else { Judgement::Violated(left, reasons) }
}

/// Returns the run that a finding is about, and the obstacles that may be the cause of the finding. `None` if there are
/// no such obstacles.
fn obstacles_for<'a>(
    context: &'a CheckContext<'a>,
    check: CheckId,
    finding: &Finding,
) -> Option<(RunView<'a>, Vec<Obstacle>)> {
    let evidence = &finding.evidence;
    let name = evidence.probe.as_ref()?;
    let probe = context.probes.iter().copied().find(|probe| probe.name == *name)?.id.clone();
    let (format, variant, nth) = (evidence.format?, evidence.variant?, evidence.nth.unwrap_or(0));
    let run = context.run_by_key(&RunKey { probe, format, variant, nth })?;
    let mut obstacles = match may_be_caused_by_confinement(&run) {
        true => obstacles(&run),
        false => is_about_being_offline(&run, evidence).then_some(Obstacle::Network).into_iter().collect(),
    };
    // Explored calls never have a network, and are judged by how they report that.
    let reports = run.probe.explored.is_some() && check != CheckId::P2ErrorJson;
    obstacles.retain(|obstacle| *obstacle != Obstacle::Network || !reports);
    (!obstacles.is_empty()).then_some((run, obstacles))
}

/// Returns the obstacles that may explain why a run ended differently than expected; empty if it ended as expected.
pub(super) fn obstacles(run: &RunView<'_>) -> Vec<Obstacle> {
    if !may_be_caused_by_confinement(run) {
        return Vec::new();
    }
    let may_be = |obstacle: &Obstacle| obstacle.is_met_by(run) && !obstacle.is_ruled_out(run);
    Obstacle::ALL.into_iter().filter(may_be).collect()
}

/// True if a run ended differently than expected, and a restriction may be the cause. Crashes, closed pipes and waits
/// for input have other causes.
fn may_be_caused_by_confinement(run: &RunView<'_>) -> bool {
    let names_pipe = || {
        let lines = run.lines(Stream::Stderr).unwrap_or_default();
        lines.iter().any(|line| BROKEN_PIPE.iter().any(|word| line.contains(word)))
    };
    match run.observation.end {
        RunEnd::Exited(code) if run.probe.explored.is_some() => code != 0 && !names_pipe(),
        // Invalid usage has no expected code, and may have failed before it was rejected.
        RunEnd::Exited(code) => {
            run.probe.exit.map_or(!matches!(code, 0 | 2), |expected| code != expected) && !names_pipe()
        }
        RunEnd::TimedOut => !run.waits_for_input(),
        RunEnd::Signaled(_)
        | RunEnd::Waited
        | RunEnd::TooMuch(_)
        | RunEnd::NotStarted(..)
        | RunEnd::Interrupted => false,
    }
}

/// True if `evidence` is a line on stderr about a missing network, and the run is known to have missed the network.
fn is_about_being_offline(run: &RunView<'_>, evidence: &Evidence) -> bool {
    let mentions_network = |line: &String| NO_NETWORK.iter().chain(OFFLINE).any(|word| line.contains(word));
    run.observation.missed_network
        && evidence.stream == Some(Stream::Stderr)
        && evidence.excerpt.as_ref().is_some_and(mentions_network)
}
