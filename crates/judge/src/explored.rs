//! Judges explored calls. Each is judged alone, with the calls that are derived from it, and the verdict of a check
//! combines the judgements. So one call that proves nothing does not keep a check undecided.

use super::breakdown;
use super::context::{CheckContext, Family};
use super::verdict::{Finding, Judgement, Reason};
use agentnative_contract::counted;
use agentnative_core::catalogue::{Check, DerivedKind, ExploredPolicy};
use agentnative_core::model::{Case, Exploration, Layer, ProbeId};
use agentnative_core::probe::Probe;
use agentnative_core::run::RunKey;
use std::collections::{BTreeMap, BTreeSet};

/// Number of explored calls, and of their commands, on which a check has to pass.
const REQUIRED_CALLS: usize = 3;
const REQUIRED_COMMANDS: usize = 2;

impl<'a> CheckContext<'a> {
    /// Adds what exploration found, with a context for each explored call. Comes after all other changes of the context.
    #[must_use]
    pub fn with_exploration(mut self, exploration: Option<&'a Exploration>) -> Self {
        self.exploration = exploration;
        self.families = exploration.map(|_| families(&self)).unwrap_or_default();
        let explored = self.all_probes.iter().filter(|probe| probe.explored.is_some());
        self.background = explored.filter(|probe| probe.is_kind(DerivedKind::CommandHelp)).collect();
        self.by_id.extend(self.background.iter().map(|probe| (&probe.id, *probe)));
        let families = self.families.iter().enumerate();
        self.family_of = families
            .flat_map(|(index, family)| family.context.probes.iter().map(move |probe| (&probe.id, index)))
            .collect();
        self
    }
}

/// Returns the explored calls of the recording, in the order of its probes.
fn families<'a>(context: &CheckContext<'a>) -> Vec<Family<'a>> {
    let mut indices: BTreeMap<&str, usize> = BTreeMap::new();
    let mut families: Vec<(&[String], Vec<&Probe>)> = Vec::new();
    let mut pages: BTreeMap<&[String], &Probe> = BTreeMap::new();
    let known = [DerivedKind::UnknownFlag, DerivedKind::UnknownCommand, DerivedKind::Schema];
    let known: Vec<&Probe> = context
        .probes
        .iter()
        .copied()
        .filter(|probe| known.iter().any(|kind| probe.is_kind(*kind)))
        .collect();
    for probe in context.all_probes {
        let page = page_of(probe);
        pages.extend(page.map(|command| (command, probe)));
        let Some(origin) = &probe.explored else { continue };
        let index = *indices.entry(probe.source().unwrap_or(&probe.name)).or_insert(families.len());
        if index == families.len() {
            families.push((page.unwrap_or(&origin.command), Vec::new()));
        }
        families[index].1.push(probe);
    }
    let family = |(command, probes): (&'a [String], Vec<&'a Probe>)| {
        let is_known = |page: &&Probe| !probes.iter().any(|probe| probe.id == page.id);
        let above = (0..=command.len()).filter_map(|end| pages.get(&command[..end]).copied());
        let background = above.filter(is_known).chain(known.iter().copied()).collect();
        let is_kept = probes.iter().any(|probe| probe.is_kept());
        Family { command, is_kept, context: context.for_family(probes, background) }
    };
    families.into_iter().map(family).collect()
}

/// Returns the words of the command whose help page a probe requests; `None` for any other probe.
fn page_of(probe: &Probe) -> Option<&[String]> {
    match &probe.id {
        ProbeId::Derived { kind: DerivedKind::Help, .. } => Some(&[]),
        ProbeId::Derived { kind: DerivedKind::CommandHelp, case: Case::Words(words), .. } => Some(words),
        _ => None,
    }
}

/// Combines `promised`, the judgement of a check without explored calls, with its judgements of each explored call.
/// Also returns the runs that these request.
pub(super) fn combine(
    context: &CheckContext,
    check: &Check,
    promised: Judgement,
    judge: impl Fn(&CheckContext) -> Judgement,
) -> (Judgement, Vec<RunKey>) {
    let is_ignored = check.explored == ExploredPolicy::Ignored || check.layer != Layer::Behavioral;
    let Some(exploration) = context.exploration.filter(|_| !is_ignored && !breakdown::is_found(context))
    else {
        return (promised, Vec::new());
    };
    let mut seen = Seen::default();
    for family in &context.families {
        seen.add(family, judge(&family.context));
    }
    let incomplete = exploration.incomplete.as_deref();
    let incomplete = incomplete.or(context.interrupted.then_some("the check was interrupted"));
    let has_sources = context.probes.iter().any(|probe| probe.is_source());
    let requests = std::mem::take(&mut seen.requests);
    let judgement = match promised {
        Judgement::Violated(mut findings, reasons) => {
            findings.extend(seen.findings.into_iter().filter(|_| check.explored == ExploredPolicy::Judged));
            Judgement::Violated(findings, reasons)
        }
        promised if !seen.findings.is_empty() && check.explored == ExploredPolicy::Judged => {
            let reasons = if let Judgement::Unverified(reasons) = promised { reasons } else { Vec::new() };
            Judgement::Violated(seen.findings, reasons)
        }
        Judgement::Pass(message) if seen.passed.count > 0 => {
            Judgement::Pass(format!("{message}; held in {}", seen.passed.in_words()))
        }
        Judgement::Unverified(reasons) if has_sources && reasons.iter().any(is_open) => {
            Judgement::Unverified(reasons)
        }
        Judgement::NotApplicable(_) | Judgement::Unverified(_) => {
            seen.decide(exploration, incomplete, has_sources, promised)
        }
        other => other,
    };
    (judgement, requests)
}

/// True if more than a declaration is missing: a run of a declared probe proves nothing yet.
fn is_open(reason: &Reason) -> bool {
    reason.blocked_by.is_some() || reason.caused_by_machine || !reason.requested_runs.is_empty()
}

/// The judgements of the explored calls.
#[derive(Default)]
struct Seen<'a> {
    findings: Vec<Finding>,
    passed: Calls<'a>,
    not_applicable: Calls<'a>,
    why_not_applicable: Option<String>,
    requests: Vec<RunKey>,
}

impl<'a> Seen<'a> {
    fn add(&mut self, family: &Family<'a>, judgement: Judgement) {
        let reasons = match judgement {
            Judgement::Pass(_) => return self.passed.add(family.command),
            // The plain run alone does not show that a requirement does not apply.
            Judgement::NotApplicable(_) if !family.is_kept => return,
            Judgement::NotApplicable(message) => {
                self.why_not_applicable.get_or_insert(message);
                return self.not_applicable.add(family.command);
            }
            Judgement::Violated(findings, reasons) => {
                let is_new = |new: &Finding| !self.findings.iter().any(|seen| seen.evidence == new.evidence);
                let new: Vec<Finding> = findings.into_iter().filter(is_new).collect();
                self.findings.extend(new);
                reasons
            }
            Judgement::Unverified(reasons) => reasons,
            Judgement::Waived { .. } => return,
        };
        self.requests.extend(reasons.into_iter().flat_map(|reason| reason.requested_runs));
    }

    /// Returns the judgement of a check that neither a declared probe nor a finding decides.
    fn decide(
        self,
        exploration: &Exploration,
        incomplete: Option<&str>,
        has_sources: bool,
        promised: Judgement,
    ) -> Judgement {
        let is_decided = self.passed.count > 0;
        let why = match (self.findings.first(), incomplete, self.why_not_applicable) {
            (Some(finding), ..) => format!("an explored call may be meant to do so: {}", finding.message),
            (None, None, Some(why)) if !is_decided && self.not_applicable.suffices(exploration) => {
                let is_open =
                    matches!(&promised, Judgement::Unverified(reasons) if !reasons.iter().any(is_open));
                return if is_open && !has_sources { Judgement::NotApplicable(why) } else { promised };
            }
            _ if !is_decided => return promised,
            (None, Some(why), _) => format!("exploration ended early: {why}"),
            _ if self.passed.suffices(exploration) => {
                return Judgement::Pass(format!("held in {}", self.passed.in_words()));
            }
            _ => format!(
                "held in {}; a verdict needs {REQUIRED_CALLS} calls of {}",
                self.passed.in_words(),
                counted(required_commands(exploration), "command")
            ),
        };
        let mut reasons = vec![Reason::from(why)];
        reasons.extend(if let Judgement::Unverified(promised) = promised { promised } else { Vec::new() });
        Judgement::Unverified(reasons)
    }
}

/// Explored calls with the same judgement.
#[derive(Default)]
struct Calls<'a> {
    count: usize,
    commands: BTreeSet<&'a [String]>,
}

impl<'a> Calls<'a> {
    fn add(&mut self, command: &'a [String]) {
        self.count += 1;
        self.commands.insert(command);
    }

    fn suffices(&self, exploration: &Exploration) -> bool {
        self.count >= REQUIRED_CALLS && self.commands.len() >= required_commands(exploration)
    }

    fn in_words(&self) -> String {
        format!("{} of {}", counted(self.count, "explored call"), counted(self.commands.len(), "command"))
    }
}

/// Returns the number of commands that have to be judged: fewer if the target has fewer.
fn required_commands(exploration: &Exploration) -> usize {
    exploration.callable().clamp(1, REQUIRED_COMMANDS)
}
