//! The source checks: what the matches of their rules mean. The rules and the words are data in
//! `checks/`; the logic is one for all.

use super::verdict::{Finding, Judgement};
use crate::report::catalogue::Check;
use crate::report::{CheckResult, Evidence, Home, Language, Role, SourceCheck, SourceRule, Status};
use crate::source::{Dependency, Entry, Facts, Match, Skipped, SourceWaiver, Span, fingerprint};
use std::collections::BTreeSet;

/// Names, without extension, of files and folders that are by custom the output module.
const OUTPUT_NAMES: &[&str] = &[
    "output",
    "outputs",
    "out",
    "print",
    "printer",
    "printers",
    "printing",
    "render",
    "renderer",
    "renderers",
    "rendering",
    "ui",
    "tui",
    "ux",
    "console",
    "terminal",
    "display",
    "view",
    "views",
    "writer",
    "writers",
    "report",
    "reporter",
    "reporters",
    "reporting",
    "format",
    "formats",
    "formatter",
    "formatters",
    "formatting",
    "presenter",
    "presenters",
    "stdout",
    "log",
    "logger",
    "logging",
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
    checks.iter().filter_map(|check| Some(code.view(&check.id)?.result())).collect()
}

/// The same, where there is no code to look at.
pub fn without_code(absence: Absence, checks: &[&Check]) -> Vec<CheckResult> {
    let judgement = || match absence {
        Absence::NoProject => Judgement::NotApplicable(
            "a program was named, not the project that it is built from: name the project's folder"
                .to_owned(),
        ),
        Absence::NotRecorded => Judgement::Unverified(
            "the recording holds nothing of the code: it was made without source checks".to_owned(),
        ),
        Absence::NoReader => Judgement::Unverified(
            "this build cannot read code: it was made without the feature `source`".to_owned(),
        ),
    };
    checks.iter().filter(|check| check.source.is_some()).map(|check| judgement().result(check)).collect()
}

/// Why there is no code to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// A program was named.
    NoProject,
    /// The recording was made without source checks.
    NotRecorded,
    /// This build cannot read code.
    NoReader,
}

/// What else the reader must know of the code: waivers, and what was skipped.
pub fn notes(code: &Code<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    for waiver in &code.facts.waivers {
        let SourceWaiver { file, line, check, reason, .. } = waiver;
        let what = match (code.view(check), reason) {
            (None, _) => format!("the waiver names no source check: {check}"),
            (Some(_), None) => {
                format!(
                    "the waiver of {check} does not count without a reason (agentnative-ignore {check}: reason)"
                )
            }
            (Some(view), Some(reason)) if view.uses(waiver) => format!("{check} is waived: {reason}"),
            (Some(_), Some(_)) => format!("the waiver of {check} is not needed"),
        };
        notes.push(format!("{}:{line}: {what}", code.path(file)));
    }
    if !code.facts.skipped.is_empty() {
        notes.push(format!("source files skipped: {}", code.named(&code.facts.skipped)));
    }
    if code.facts.left.folders > 0 {
        notes.push(format!("source folders that could not be entered: {}", code.facts.left.folders));
    }
    notes
}

impl<'a> Code<'a> {
    /// The code in the eyes of the source check of this ID.
    fn view(&'a self, id: &str) -> Option<View<'a>> {
        let check = self.checks.iter().find(|check| check.id == id)?;
        Some(View { code: self, check, source: check.source.as_ref()? })
    }

    /// Whether what was found is what the rules find now: a recording may be older. One check uses what
    /// others find, so it is all or none.
    fn is_of_these_rules(&self) -> bool {
        let now = self
            .checks
            .iter()
            .filter_map(|check| Some((check.id.clone(), fingerprint(check.source.as_ref()?))));
        self.facts.rules == now.collect()
    }

    /// The path of a file of the package, for people.
    fn path(&self, file: &str) -> String {
        format!("{}{file}", self.facts.folder)
    }

    /// The first of the skipped files, each with the reason, and the number of the others.
    fn named(&self, skipped: &[Skipped]) -> String {
        let name = |file: &Skipped| format!("{} ({})", self.path(&file.file), file.why);
        let mut parts: Vec<String> = skipped.iter().take(NAMED).map(name).collect();
        if skipped.len() > NAMED {
            parts.push(format!("and {} more", skipped.len() - NAMED));
        }
        parts.join(", ")
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
        let here = self.facts.matches.iter().filter(|home| home.span.file == *file);
        let is_home = |home: &&Match| {
            let rule = self.view(&home.check).and_then(|view| view.rule(home));
            rule.is_some_and(|rule| rule.home)
                && (home.entry != Entry::File || contains(&home.span, &found.span))
        };
        here.into_iter().any(|home| is_home(&home)) || has_output_name(file)
    }
}

/// The code in the eyes of one check.
struct View<'a> {
    code: &'a Code<'a>,
    check: &'a Check,
    source: &'a SourceCheck,
}

/// A match with its rule.
struct Seen<'a> {
    rule: &'a SourceRule,
    found: &'a Match,
}

impl<'a> View<'a> {
    /// The rule of a match of this check.
    fn rule(&self, found: &Match) -> Option<&'a SourceRule> {
        let rules = &self.source.languages.get(&found.language)?.rules;
        rules.iter().find(|rule| rule.name == found.rule)
    }

    /// The matches of the rules with this role.
    fn seen(&self, role: Role) -> Vec<Seen<'a>> {
        let matches = self.code.facts.matches.iter().filter(|found| found.check == self.check.id);
        let seen = matches.filter_map(|found| Some(Seen { rule: self.rule(found)?, found }));
        seen.filter(|seen| seen.rule.role == role).collect()
    }

    /// Whether a rule of this role is about the languages of the package.
    fn has(&self, role: Role) -> bool {
        let languages =
            self.code.facts.files.keys().filter_map(|language| self.source.languages.get(language));
        languages.flat_map(|language| &language.rules).any(|rule| rule.role == role)
    }

    fn result(&self) -> CheckResult {
        if !self.code.is_of_these_rules() {
            let other = "the code was held to the rules of another version: check it again";
            return Judgement::Unverified(other.to_owned()).result(self.check);
        }
        let findings = self.findings();
        let waived =
            |(waiver, finding): &(Option<String>, Finding)| Some((waiver.clone()?, finding.evidence.clone()));
        let waived: Vec<(String, Evidence)> = findings.iter().filter_map(waived).collect();
        let open: Vec<Finding> =
            findings.into_iter().filter(|(waiver, _)| waiver.is_none()).map(|(_, finding)| finding).collect();
        if open.is_empty() && !waived.is_empty() {
            let (reasons, evidence): (BTreeSet<String>, Vec<Evidence>) = waived.into_iter().unzip();
            let message = format!("waived in the code: {}", Vec::from_iter(reasons).join("; "));
            let result = Judgement::NotApplicable(message).result(self.check);
            return CheckResult { status: Status::Waived, evidence, ..result };
        }
        if open.is_empty() {
            return self.without_findings().result(self.check);
        }
        // All places, not only the first few.
        let evidence = open.iter().map(|finding| finding.evidence.clone()).collect();
        CheckResult { evidence, ..Judgement::Broken(open).result(self.check) }
    }

    /// The verdict when no place in the code is to be named.
    fn without_findings(&self) -> Judgement {
        let facts = self.code.facts;
        let (covered, not): (Vec<Language>, Vec<Language>) =
            facts.files.keys().copied().partition(|language| self.source.languages.contains_key(language));
        if covered.is_empty() {
            return Judgement::NotApplicable(if not.is_empty() {
                format!(
                    "there is no code in {} here",
                    names(&Vec::from_iter(self.source.languages.keys().copied()))
                )
            } else {
                format!("the check does not cover {}", names(&not))
            });
        }
        let skipped = facts.skipped.iter().any(|skipped| covered.contains(&skipped.language));
        let gaps = skipped || facts.built.is_some() || facts.left.folders > 0;
        let open = |what: &str| {
            let skipped = skipped.then(|| format!("; skipped: {}", self.code.named(&facts.skipped)));
            let built = facts.built.as_ref().map(|folder| {
                format!(
                    "; {}/ is built, and the code that it is built from is not here",
                    self.code.path(folder)
                )
            });
            let shut = (facts.left.folders > 0)
                .then(|| format!("; folders that could not be entered: {}", facts.left.folders));
            Judgement::Unverified(
                [what.to_owned()].into_iter().chain(skipped).chain(built).chain(shut).collect(),
            )
        };
        let wanted = self.wanted();
        if self.has(Role::Wanted) && wanted.is_none() {
            if let Some(seen) = self.seen(Role::Open).first() {
                let at = &seen.found.span;
                return open(&format!("{} ({}:{})", seen.rule.message, self.code.path(&at.file), at.start.0));
            }
            return match (&self.source.missing, &self.source.unseen, self.own_dependency()) {
                (Some(what), _, Some(own)) => {
                    open(&format!("{what}; another package of this repository may do it: {own}"))
                }
                (Some(what), _, None) if !gaps => Judgement::Broken(vec![self.whole(what)]),
                (Some(what), ..) | (None, Some(what), _) => open(what),
                (None, None, _) => open("nothing was seen that could decide"),
            };
        }
        if self.has(Role::Fault) && gaps {
            return open("not all files could be read");
        }
        let rest = if not.is_empty() { String::new() } else { format!("; not covered: {}", names(&not)) };
        let files: usize = facts.files.values().sum();
        Judgement::Pass(match wanted {
            Some(place) => format!("{place}{rest}"),
            None => format!(
                "nothing found in {files} {} of {}{rest}",
                if files == 1 { "file" } else { "files" },
                names(&covered)
            ),
        })
    }

    /// The faults, or where nothing wanted is there what comes near; each with the reason of its waiver.
    fn findings(&self) -> Vec<(Option<String>, Finding)> {
        let mut seen = self.faults();
        if seen.is_empty() && self.wanted().is_none() && self.seen(Role::Open).is_empty() {
            seen = self.seen(Role::Nearly);
        }
        // Several rules may match at one place.
        let mut places = BTreeSet::new();
        seen.retain(|seen| places.insert((&seen.found.span.file, seen.found.span.start)));
        let finding = |Seen { rule, found }: Seen<'_>| {
            let message = rule.message.replace("$NAME", found.name.as_deref().unwrap_or_default());
            (self.waiver(&found.span), Finding::new(self.evidence(&found.span, message)))
        };
        seen.into_iter().map(finding).collect()
    }

    /// The faults that are not where they may be and not another check's.
    fn faults(&self) -> Vec<Seen<'a>> {
        let mut seen = self.seen(Role::Fault);
        seen.retain(|seen| match self.source.except {
            _ if seen.rule.everywhere => true,
            Some(Home::Output) => !self.code.is_output(seen.found),
            Some(Home::Entry) => seen.found.entry == Entry::No,
            None => true,
        });
        let first = self.source.yields_to.as_ref().and_then(|id| self.code.view(id));
        let others = first.map_or_else(Vec::new, |first| first.seen(Role::Fault));
        seen.retain(|seen| !others.iter().any(|other| overlap(&other.found.span, &seen.found.span)));
        seen
    }

    /// Where what is wanted was found, when enough of it was.
    fn wanted(&self) -> Option<String> {
        let listed = |dependency: &&Dependency| {
            let rules = self.source.languages.get(&dependency.language);
            rules.is_some_and(|rules| rules.dependencies.contains(&dependency.name))
        };
        if let Some(dependency) = self.code.facts.dependencies.iter().find(listed) {
            return Some(format!("the package depends on {}", dependency.name));
        }
        let seen = self.seen(Role::Wanted);
        let first = seen.iter().find(|first| {
            let alike = |other: &&Seen<'_>| {
                other.rule.name == first.rule.name && other.found.language == first.found.language
            };
            let place = |seen: &Seen<'_>| format!("{}:{}", seen.found.span.file, seen.found.span.range.start);
            let different: BTreeSet<String> = seen
                .iter()
                .filter(alike)
                .map(|seen| seen.found.name.clone().unwrap_or_else(|| place(seen)))
                .collect();
            different.len() >= first.rule.distinct
        })?;
        let span = &first.found.span;
        Some(format!("{}: {}:{}", first.rule.message, self.code.path(&span.file), span.start.0))
    }

    /// A package of the same repository that the target is built with, where a dependency may decide.
    fn own_dependency(&self) -> Option<&'a str> {
        let decides = |dependency: &&Dependency| {
            let rules = self.source.languages.get(&dependency.language);
            dependency.own && rules.is_some_and(|rules| !rules.dependencies.is_empty())
        };
        self.code.facts.dependencies.iter().find(decides).map(|dependency| dependency.name.as_str())
    }

    /// The reason of the waiver of this check on the line of `span`.
    fn waiver(&self, span: &Span) -> Option<String> {
        let mut waivers = self.code.facts.waivers.iter();
        let waiver = waivers.find(|waiver| {
            waiver.check == self.check.id && waiver.file == span.file && waiver.waives == span.start.0
        })?;
        waiver.reason.clone()
    }

    /// Whether a waiver waives something.
    fn uses(&self, waiver: &SourceWaiver) -> bool {
        self.findings().iter().any(|(_, finding)| {
            finding.evidence.file.as_ref() == Some(&self.code.path(&waiver.file))
                && finding.evidence.line == Some(waiver.waives)
        })
    }

    /// Evidence at a place in the code.
    fn evidence(&self, span: &Span, detail: String) -> Evidence {
        Evidence {
            file: Some(self.code.path(&span.file)),
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

    /// A finding about the package as a whole.
    fn whole(&self, what: &str) -> Finding {
        let file = self.code.path(self.code.facts.manifest.as_deref().unwrap_or("."));
        Finding::new(Evidence { file: Some(file), detail: what.to_owned(), ..Evidence::default() })
    }
}

fn contains(outer: &Span, inner: &Span) -> bool {
    outer.range.start <= inner.range.start && inner.range.end <= outer.range.end
}

fn overlap(a: &Span, b: &Span) -> bool {
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

fn names(languages: &[Language]) -> String {
    languages.iter().map(|language| language.name()).collect::<Vec<_>>().join(", ")
}
