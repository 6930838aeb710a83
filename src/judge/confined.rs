//! Runs that ended otherwise than expected, and seem to have done so because they were confined: what is found in them is
//! no fault of the target.

use super::context::CheckContext;
use super::run_view::RunView;
use super::verdict::{Finding, Judgement, Reason};
use crate::model::{Confinement, Evidence, Stream};
use crate::run::{End, RunKey};

/// What is said where a file may not be written: by the kernel's words, and the names of the error in languages.
const READ_ONLY: &[&str] = &["ead-only file system", "EROFS", "os error 30)", "Errno 30]"];
/// What is said where a folder of the project is renamed: a copy-on-write view cannot do that.
const CROSS_DEVICE: &[&str] = &["ross-device link", "EXDEV", "os error 18)", "Errno 18]"];
/// The same as for files that may not be written, where Landlock does not allow it, or the filter on sockets.
const DENIED: &[&str] = &[
    "ermission denied",
    "EACCES",
    "os error 13)",
    "Errno 13]",
    "peration not permitted",
    "EPERM",
    "os error 1)",
];
/// What is said where there is no network.
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
/// What is said where a service of the machine cannot be reached over its socket.
const NO_SERVICE: &[&str] = &["/run/", ".sock", "D-Bus", "dbus"];

/// The judgement without what was found in such runs: that is a reason why the check cannot be decided.
pub(super) fn excuse(context: &CheckContext, judgement: Judgement) -> Judgement {
    let Judgement::Broken(findings, mut reasons) = judgement else { return judgement };
    let mut left = Vec::new();
    for finding in findings {
        match reason(context, &finding) {
            Some(reason) => reasons.push(reason),
            None => left.push(finding),
        }
    }
    if left.is_empty() { Judgement::Unverified(reasons) } else { Judgement::Broken(left, reasons) }
}

fn reason(context: &CheckContext, finding: &Finding) -> Option<Reason> {
    let Evidence { probe: Some(probe), format: Some(format), variant: Some(variant), nth, .. } =
        &finding.evidence
    else {
        return None;
    };
    let probe = context.probes.iter().find(|own| own.name == *probe)?.id.clone();
    let key = RunKey { probe, format: *format, variant: *variant, nth: nth.unwrap_or(0) };
    let run = context.run_of(&key)?;
    let (what, remedy) = cause(&run)?;
    Some(format!("{} {what}: {remedy}", run.label()).into())
}

/// What confinement kept a run from that ended otherwise than expected, and what to declare.
fn cause(run: &RunView<'_>) -> Option<(&'static str, &'static str)> {
    let confinement = run.observation.confinement.filter(|way| *way != Confinement::None)?;
    let ended_as_expected = match run.observation.end {
        // A call that is to be refused as wrong usage has no expected code, and may have failed before it was.
        End::Exited(code) => run.probe.exit.map_or(matches!(code, 0 | 2), |expected| code == expected),
        End::Signaled(_) | End::TimedOut => false,
        End::Waited | End::TooMuch(_) | End::NotStarted(..) | End::Interrupted => true,
    };
    if ended_as_expected {
        return None;
    }
    if run.observation.uncopied {
        let remedy = "declare `writes = true` or a `workspace` for it";
        return Some(("could not write to the folder that it starts in, which cannot be copied", remedy));
    }
    let streams = [Stream::Stderr, Stream::Stdout].into_iter();
    let lines: Vec<String> = streams.filter_map(|stream| run.lines(stream)).flatten().collect();
    let has = |line: &String, words: &[&str]| words.iter().any(|word| line.contains(word));
    let says = |words: &[&str]| lines.iter().any(|line| has(line, words));
    let lacks_socket = || lines.iter().any(|line| has(line, &["ocket"]) && has(line, DENIED));
    let is_namespaces = confinement == Confinement::Namespaces;
    if run.observation.missed_network || says(NO_NETWORK) || !is_namespaces && lacks_socket() {
        return Some(("seems to need the network", "declare `network = true`"));
    }
    if says(if is_namespaces { READ_ONLY } else { DENIED }) {
        let remedy = "declare a `workspace` for it, or `isolation = \"none\"`";
        return Some(("seems to write where confined runs may not", remedy));
    }
    if is_namespaces && says(CROSS_DEVICE) {
        return Some((
            "seems to rename a folder of the project, which the copy-on-write view of it cannot do",
            "declare a `workspace` for it, or `writes = true`",
        ));
    }
    let remedy = "declare `isolation = \"none\"`";
    says(NO_SERVICE)
        .then_some(("seems to need a service of the machine, which confined runs do not reach", remedy))
}
