//! The source checks: what the matches of their rules mean. The rules and the words are data in
//! `checks/`; the logic is one for all.

use super::verdict::{Finding, Judgement};
use crate::report::catalogue::Check;
use crate::report::{CheckResult, Evidence, Home, Language, Role, SourceCheck, SourceRule, Status};
use crate::source::{Entry, Facts, Match, Skipped, SourceWaiver, Span};
use std::collections::BTreeSet;

/// Names, without extension, of files and folders that are by custom the output module.
const OUTPUT_NAMES: &[&str] = &[
    "output", "outputs", "out", "print", "printer", "printers", "printing", "render", "renderer", "renderers", "rendering", "ui", "tui", "ux",
    "console", "terminal", "display", "view", "views", "writer", "writers", "report", "reporter", "reporters", "reporting", "format",
    "formats", "formatter", "formatters", "formatting", "presenter", "presenters", "stdout", "log", "logger", "logging",
];
/// As many skipped files are named, and no more.
const NAMED: usize = 3;

/// The code of the target, and what is said of it.
pub struct Code<'a> {
    /// What was found in it.
    pub facts: &'a Facts,
    /// The catalogue: the checks whose rules the facts come from.
    pub checks: &'a [Check],
    /// Paths of the output modules, relative to the package; empty when the configuration names none:
    /// then they are found.
    pub output: &'a [String],
}

/// The verdict on each of `checks` that is a source check, in their order.
pub fn judge(code: &Code<'_>, checks: &[&Check]) -> Vec<CheckResult> {
    let of = |check: &&Check| Some(code.result(check, check.source.as_ref()?));
    checks.iter().filter_map(of).collect()
}

/// What else the reader must know of the code: waivers, what was skipped and left out.
pub fn notes(code: &Code<'_>) -> Vec<String> {
    let facts = code.facts;
    let mut notes = Vec::new();
    for waiver in &facts.waivers {
        let place = format!("{}:{}", waiver.file, waiver.line);
        let known = code.checks.iter().any(|check| check.id == waiver.check && check.source.is_some());
        match &waiver.reason {
            _ if !known => notes.push(format!("{place}: the waiver names no source check: {}", waiver.check)),
            None => notes.push(format!(
                "{place}: the waiver of {} does not count without a reason (agentnative-ignore {}: reason)",
                waiver.check, waiver.check
            )),
            Some(reason) if code.uses(waiver) => notes.push(format!("{place}: {} is waived: {reason}", waiver.check)),
            Some(_) => notes.push(format!("{place}: the waiver of {} is not needed", waiver.check)),
        }
    }
    if !facts.skipped.is_empty() {
        notes.push(format!("source files skipped: {}", named(&facts.skipped)));
    }
    notes
}

/// A rule with its check.
struct Seen<'a> {
    rule: &'a SourceRule,
    found: &'a Match,
}

impl<'a> Code<'a> {
    fn result(&self, check: &'a Check, source: &'a SourceCheck) -> CheckResult {
        let (open, waived): (Vec<_>, Vec<_>) =
            self.findings(check, source).into_iter().partition(|(waiver, _)| waiver.is_none());
        let open: Vec<Finding> = open.into_iter().map(|(_, finding)| finding).collect();
        if open.is_empty() && !waived.is_empty() {
            let reasons: BTreeSet<&str> = waived.iter().filter_map(|(waiver, _)| waiver.as_deref()).collect();
            let message = format!("waived in the code: {}", reasons.into_iter().collect::<Vec<_>>().join("; "));
            let findings = waived.into_iter().map(|(_, finding)| finding).collect();
            let result = with_all(Judgement::Broken(findings), check);
            return CheckResult { status: Status::Waived, message, help: None, ..result };
        }
        with_all(self.judgement(check, source, open), check)
    }

    fn judgement(&self, check: &Check, source: &SourceCheck, findings: Vec<Finding>) -> Judgement {
        let present: Vec<Language> = self.facts.files.keys().copied().collect();
        let (covered, not): (Vec<Language>, Vec<Language>) =
            present.iter().partition(|language| source.languages.contains_key(language));
        if covered.is_empty() {
            return Judgement::NotApplicable(match names(&not) {
                none if none.is_empty() => format!("there is no {} here", names(&source.languages.keys().copied().collect::<Vec<_>>())),
                names => format!("the check does not cover {names}"),
            });
        }
        if !findings.is_empty() {
            return Judgement::Broken(findings);
        }
        let files: usize = self.facts.files.values().sum();
        let skipped: Vec<&Skipped> =
            self.facts.skipped.iter().filter(|skipped| covered.contains(&skipped.language)).collect();
        let missing = |what: &str| if skipped.is_empty() { what.to_owned() } else { format!("{what}; skipped: {}", named(&self.facts.skipped)) };
        let wants = self.wants(source);
        if let Some(open) = self.seen(check, source, Role::Open).first()
            && wants && self.wanted(check, source).is_none()
        {
            let at = &open.found.span;
            return Judgement::Unverified(missing(&format!("{} ({}:{})", open.rule.message, at.file, at.start.0)));
        }
        let held = self.wanted(check, source);
        let faults = self.has_role(source, Role::Fault);
        if wants && held.is_none() {
            // What is missing without a place of its own.
            let own = self.facts.package.dependencies.iter().find(|dependency| dependency.own);
            let looks_there = |rules: &crate::report::LanguageRules| !rules.dependencies.is_empty();
            let own = own.filter(|own| source.languages.get(&own.language).is_some_and(looks_there));
            return match (&source.missing, &source.unseen) {
                (Some(what), _) if own.is_some() => {
                    let own = own.map_or("", |own| own.name.as_str());
                    Judgement::Unverified(missing(&format!("{what}; another package of this repository may do it: {own}")))
                }
                (Some(what), _) if skipped.is_empty() => Judgement::Broken(vec![self.whole(what)]),
                (Some(what), _) | (None, Some(what)) => Judgement::Unverified(missing(what)),
                (None, None) => Judgement::Unverified(missing("nothing was seen that could decide")),
            };
        }
        if faults && !skipped.is_empty() {
            return Judgement::Unverified(format!("not all files could be read; skipped: {}", named(&self.facts.skipped)));
        }
        let not = if not.is_empty() { String::new() } else { format!("; not covered: {}", names(&not)) };
        let languages = names(&covered);
        Judgement::Pass(match held {
            Some(place) => format!("{place}{not}"),
            None => format!("nothing found in {files} {} of {languages}{not}", if files == 1 { "file" } else { "files" }),
        })
    }

    /// The faults, or where nothing wanted is there what comes near; each with the reason of its waiver.
    fn findings(&self, check: &Check, source: &SourceCheck) -> Vec<(Option<String>, Finding)> {
        let mut seen = self.faults(check, source);
        if seen.is_empty() && self.wanted(check, source).is_none() && self.seen(check, source, Role::Open).is_empty() {
            seen = self.seen(check, source, Role::Nearly);
        }
        let mut lines = BTreeSet::new();
        // A call inside another is one place.
        seen.retain(|seen| lines.insert((&seen.found.span.file, seen.found.span.start)));
        let finding = |seen: Seen<'_>| {
            let message = match &seen.found.name {
                Some(name) => seen.rule.message.replace("$NAME", name),
                None => seen.rule.message.clone(),
            };
            (self.waiver(&check.id, &seen.found.span), Finding::new(evidence(&seen.found.span, message)))
        };
        seen.into_iter().map(finding).collect()
    }

    /// The faults that are not where they may be and not another check's.
    fn faults(&self, check: &Check, source: &SourceCheck) -> Vec<Seen<'a>> {
        let mut seen = self.seen(check, source, Role::Fault);
        seen.retain(|seen| match source.except {
            _ if seen.rule.everywhere => true,
            Some(Home::Output) => !self.is_output(seen.found),
            Some(Home::Entry) => seen.found.entry == Entry::No,
            None => true,
        });
        let first = source.yields_to.as_ref().and_then(|id| self.checks.iter().find(|check| check.id == *id));
        if let Some((first, source)) = first.and_then(|first| Some((first, first.source.as_ref()?))) {
            let others = self.seen(first, source, Role::Fault);
            seen.retain(|seen| !others.iter().any(|other| same_place(&other.found.span, &seen.found.span)));
        }
        seen
    }

    /// The matches of the rules with this role.
    fn seen(&self, check: &Check, source: &SourceCheck, role: Role) -> Vec<Seen<'a>> {
        let Some(check) = self.checks.iter().find(|known| known.id == check.id) else { return Vec::new() };
        let _ = source;
        let matches = self.facts.matches.iter().filter(|found| found.check == check.id);
        matches
            .filter_map(|found| Some(Seen { rule: rule_of(check, found)?, found }))
            .filter(|seen| seen.rule.role == role)
            .collect()
    }

    fn has_role(&self, source: &SourceCheck, role: Role) -> bool {
        let languages = self.facts.files.keys().filter_map(|language| source.languages.get(language));
        languages.flat_map(|language| &language.rules).any(|rule| rule.role == role)
    }

    fn wants(&self, source: &SourceCheck) -> bool {
        self.has_role(source, Role::Wanted)
    }

    /// Where what is wanted was found, when enough of it was.
    fn wanted(&self, check: &Check, source: &SourceCheck) -> Option<String> {
        for (language, rules) in &source.languages {
            let listed = |dependency: &&crate::source::Dependency| {
                dependency.language == *language && rules.dependencies.contains(&dependency.name)
            };
            if let Some(dependency) = self.facts.package.dependencies.iter().find(listed) {
                return Some(format!("the package depends on {}", dependency.name));
            }
        }
        let seen = self.seen(check, source, Role::Wanted);
        seen.iter().find_map(|first| {
            let alike = seen.iter().filter(|other| other.rule.name == first.rule.name && other.found.language == first.found.language);
            let different: BTreeSet<String> = alike
                .map(|seen| seen.found.name.clone().unwrap_or_else(|| format!("{}:{}", seen.found.span.file, seen.found.span.range.start)))
                .collect();
            let span = &first.found.span;
            (different.len() >= first.rule.distinct).then(|| format!("{}: {}:{}", first.rule.message, span.file, span.start.0))
        })
    }

    /// Whether a place is in the output module.
    fn is_output(&self, found: &Match) -> bool {
        let file = &found.span.file;
        if !self.output.is_empty() {
            return self.output.iter().any(|path| {
                let path = path.trim_start_matches("./").trim_end_matches('/');
                file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            });
        }
        let homes = self.facts.matches.iter().filter(|home| {
            let check = self.checks.iter().find(|check| check.id == home.check);
            check.and_then(|check| rule_of(check, home)).is_some_and(|rule| rule.home)
        });
        let mut homes = homes.filter(|home| home.span.file == *file);
        let lives = homes.any(|home| {
            let around = home.span.range.start <= found.span.range.start && found.span.range.end <= home.span.range.end;
            around || home.entry != Entry::File
        });
        lives || has_output_name(file)
    }

    /// The reason of the waiver of this check on the line of `span`.
    fn waiver(&self, check: &str, span: &Span) -> Option<String> {
        let mut waivers = self.facts.waivers.iter().filter(|waiver| waiver.check == check && waiver.file == span.file);
        waivers.find(|waiver| waiver.waives == span.start.0)?.reason.clone()
    }

    /// Whether a waiver waives something.
    fn uses(&self, waiver: &SourceWaiver) -> bool {
        let check = self.checks.iter().find(|check| check.id == waiver.check);
        let Some((check, source)) = check.and_then(|check| Some((check, check.source.as_ref()?))) else { return false };
        self.findings(check, source).iter().any(|(_, finding)| {
            finding.evidence.file.as_ref() == Some(&waiver.file) && finding.evidence.line == Some(waiver.waives)
        })
    }

    /// A finding about the package as a whole.
    fn whole(&self, what: &str) -> Finding {
        let file = self.facts.package.manifest.unwrap_or(".").to_owned();
        Finding::new(Evidence { file: Some(file), detail: what.to_owned(), ..Evidence::default() })
    }
}

fn rule_of<'a>(check: &'a Check, found: &Match) -> Option<&'a SourceRule> {
    let rules = &check.source.as_ref()?.languages.get(&found.language)?.rules;
    rules.iter().find(|rule| rule.name == found.rule)
}

fn same_place(a: &Span, b: &Span) -> bool {
    a.file == b.file && a.range.start < b.range.end && b.range.start < a.range.end
}

/// Whether a component of the path is by custom the name of the output module.
fn has_output_name(file: &str) -> bool {
    let mut parts = file.split('/');
    parts.any(|part| {
        let stem = part.split('.').next().unwrap_or(part).to_lowercase();
        let last = stem.rsplit(['_', '-']).next().unwrap_or(&stem);
        OUTPUT_NAMES.contains(&stem.as_str()) || OUTPUT_NAMES.contains(&last) && last != "out"
    })
}

/// The verdict with all places, not only the first few.
fn with_all(judgement: Judgement, check: &Check) -> CheckResult {
    let all: Vec<Evidence> = match &judgement {
        Judgement::Broken(findings) => findings.iter().map(|finding| finding.evidence.clone()).collect(),
        _ => Vec::new(),
    };
    CheckResult { evidence: all, ..judgement.result(check) }
}

fn evidence(span: &Span, detail: String) -> Evidence {
    Evidence {
        file: Some(span.file.clone()),
        offset: Some(span.range.start as u64),
        line: Some(span.start.0),
        column: Some(span.start.1),
        end_line: Some(span.end.0),
        end_column: Some(span.end.1),
        excerpt: Some(span.excerpt.clone()),
        caret: Some(span.caret),
        detail,
        ..Evidence::default()
    }
}

fn names(languages: &[Language]) -> String {
    languages.iter().map(|language| language.name()).collect::<Vec<_>>().join(", ")
}

/// The first of the skipped files, each with the reason, and the number of the others.
fn named(skipped: &[Skipped]) -> String {
    let mut parts: Vec<String> = skipped.iter().take(NAMED).map(|file| format!("{} ({})", file.file, file.why)).collect();
    if skipped.len() > NAMED {
        parts.push(format!("and {} more", skipped.len() - NAMED));
    }
    parts.join(", ")
}
