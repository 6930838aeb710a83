//! Judges one source check by the facts about the code.

use super::code::Code;
use super::output_module::OutputModule;
use crate::verdict::{Finding, Judgement};
use agentnative_core::catalogue::{Check, ExemptPart, MISSING, MatchRole, SourceCheck, SourceRule};
use agentnative_core::facts::{CodeSpan, EntryPoint, Match, RangeSet, SourceWaiver};
use agentnative_core::manifest::Dependency;
use agentnative_core::model::{CheckId, Evidence, Language};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A source check, with the facts about the code that it judges.
pub(super) struct CheckView<'a> {
    pub code: &'a Code<'a>,
    pub check: &'a Check,
    pub source: &'a SourceCheck,
}

struct RuleMatch<'a> {
    rule: &'a SourceRule,
    found: &'a Match,
}

impl<'a> Code<'a> {
    /// Returns the source check `id` with the facts that it judges; `None` if the check has no rules.
    pub(super) fn view(&'a self, id: CheckId) -> Option<CheckView<'a>> {
        let check = id.check();
        Some(CheckView { code: self, check, source: check.source.as_ref()? })
    }
}

impl<'a> CheckView<'a> {
    /// Returns the rule of this check that produced the match `found`.
    pub fn rule(&self, found: &Match) -> Option<&'a SourceRule> {
        let rules = &self.source.languages.get(&found.language)?.rules;
        rules.iter().find(|rule| rule.name == found.rule)
    }

    /// Returns the matches of this check's rules that have this role.
    fn matches(&self, role: MatchRole) -> Vec<RuleMatch<'a>> {
        let own = self.code.facts.matches.iter().filter(|found| found.check == self.check.id.as_str());
        let all = own.filter_map(|found| Some(RuleMatch { rule: self.rule(found)?, found }));
        all.filter(|one| one.rule.role == role).collect()
    }

    /// True if the check has a rule with this role for a language of the package.
    fn has(&self, role: MatchRole) -> bool {
        let languages =
            self.code.facts.files.keys().filter_map(|language| self.source.languages.get(language));
        languages.flat_map(|language| &language.rules).any(|rule| rule.role == role)
    }

    pub fn judgement(&self) -> Judgement {
        if !self.code.has_current_rules() {
            return Judgement::unverified(
                "the code was recorded with the rules of another version: check it again",
            );
        }
        if let Some(why) = &self.code.facts.stopped {
            return Judgement::unverified(why.clone());
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
            return Judgement::Waived { message, evidence };
        }
        if open.is_empty() { self.without_findings() } else { Judgement::violated(open) }
    }

    /// Returns the judgement of the check if it has no findings.
    fn without_findings(&self) -> Judgement {
        let facts = self.code.facts;
        let (covered, not): (Vec<Language>, Vec<Language>) =
            facts.files.keys().copied().partition(|language| self.source.languages.contains_key(language));
        if covered.is_empty() && not.is_empty() && !facts.unread.is_empty() {
            return Judgement::unverified(format!("no code was read{}", self.code.unread()));
        }
        if covered.is_empty() {
            return Judgement::NotApplicable(if not.is_empty() {
                format!(
                    "the target has no code in {}",
                    names(&Vec::from_iter(self.source.languages.keys().copied()))
                )
            } else {
                format!("the check does not cover {}", names(&not))
            });
        }
        let mut gaps = String::new();
        if facts.skipped.iter().any(|skipped| covered.contains(&skipped.language)) {
            gaps.push_str(&format!("; skipped: {}", self.code.skipped_files_text(&facts.skipped)));
        }
        gaps.push_str(&self.code.unread());
        if facts.excluded.folders > 0 {
            gaps.push_str(&format!("; folders that could not be read: {}", facts.excluded.folders));
        }
        let open = |what: &str| Judgement::unverified(format!("{what}{gaps}"));
        let wanted = self.describe_wanted();
        if self.has(MatchRole::Wanted) && wanted.is_none() {
            if let Some(open_match) = self.matches(MatchRole::Open).first() {
                let at = &open_match.found.span;
                return open(&format!(
                    "{} ({}:{})",
                    open_match.rule.message,
                    self.code.path(&at.file),
                    at.start.0
                ));
            }
            return match (&self.source.missing, &self.source.unseen, self.own_dependency()) {
                (Some(what), _, Some(own)) => {
                    open(&format!("{what}; another package of this repository may contain it: {own}"))
                }
                (Some(what), _, None) if gaps.is_empty() => {
                    Judgement::violated(vec![self.about_package(what)])
                }
                (Some(what), ..) | (None, Some(what), _) => open(what),
                (None, None, _) => open("the code contains no evidence"),
            };
        }
        if self.has(MatchRole::Fault) && !gaps.is_empty() {
            return open("not all files could be read");
        }
        let rest = if not.is_empty() { String::new() } else { format!("; not covered: {}", names(&not)) };
        let files: usize = facts.files.values().sum();
        Judgement::Pass(match wanted {
            Some(place) => format!("{place}{rest}"),
            None => format!(
                "no problem in {files} {} of {}{rest}",
                if files == 1 { "file" } else { "files" },
                names(&covered)
            ),
        })
    }

    /// Returns the findings of the check, each after the reason of its waiver (`None` if it is not waived). Findings
    /// are the faults. If there are none, and none of the code that the check wants, findings are the code that is
    /// nearly correct.
    fn findings(&self) -> Vec<(Option<String>, Finding)> {
        let mut matches = self.faults();
        if matches.is_empty() && self.describe_wanted().is_none() && self.matches(MatchRole::Open).is_empty()
        {
            matches = self.matches(MatchRole::Nearly);
        }
        // Several rules may match at one place.
        let mut places = BTreeSet::new();
        matches.retain(|one| places.insert((&one.found.span.file, one.found.span.start)));
        // The first waiver of a line applies.
        let own =
            self.code.facts.waivers.iter().rev().filter(|waiver| waiver.check == self.check.id.as_str());
        let waivers: BTreeMap<(&str, u64), &SourceWaiver> =
            own.map(|waiver| ((&*waiver.file, waiver.waives), waiver)).collect();
        let finding = |RuleMatch { rule, found }: RuleMatch<'_>| {
            let message = rule.message_with(found.name.as_deref().unwrap_or_default());
            let waiver = waivers.get(&(&*found.span.file, found.span.start.0));
            let reason = waiver.and_then(|waiver| waiver.reason.clone());
            (reason, Finding::new(&rule.name, self.evidence(&found.span, message)))
        };
        matches.into_iter().map(finding).collect()
    }

    /// Returns the faults in the code, without those in a place where they are allowed and those that another check
    /// reports.
    fn faults(&self) -> Vec<RuleMatch<'a>> {
        let mut matches = self.matches(MatchRole::Fault);
        let output = OutputModule::detect(self.code);
        matches.retain(|fault| match self.source.except {
            _ if fault.rule.everywhere => true,
            Some(ExemptPart::Output) => !output.contains(&fault.found.span),
            Some(ExemptPart::Entry) => fault.found.entry == EntryPoint::No,
            None => true,
        });
        let first = self.source.yields_to.as_ref().and_then(|id| self.code.view(*id));
        let mut others: BTreeMap<&str, Vec<Range<usize>>> = BTreeMap::new();
        for other in first.iter().flat_map(|first| first.matches(MatchRole::Fault)) {
            others.entry(&other.found.span.file).or_default().push(other.found.span.range.clone());
        }
        let others: BTreeMap<&str, RangeSet> =
            others.into_iter().map(|(file, ranges)| (file, RangeSet::new(ranges))).collect();
        let is_other = |place: &CodeSpan| {
            others.get(place.file.as_str()).is_some_and(|ranges| ranges.overlaps(&place.range))
        };
        matches.retain(|fault| !is_other(&fault.found.span));
        matches
    }

    /// Describes the first code or dependency that the check wants, and where it is. `None` if there is none, or too
    /// little of it.
    fn describe_wanted(&self) -> Option<String> {
        let listed = |dependency: &&Dependency| {
            let rules = self.source.languages.get(&dependency.language);
            rules.is_some_and(|rules| rules.dependencies.contains(&dependency.name))
        };
        if let Some(dependency) = self.code.facts.dependencies.iter().find(listed) {
            return Some(format!("the package depends on {}", dependency.name));
        }
        let matches = self.matches(MatchRole::Wanted);
        let place = |one: &RuleMatch<'_>| format!("{}:{}", one.found.span.file, one.found.span.range.start);
        let kind = |one: &RuleMatch<'a>| (&one.rule.name, one.found.language);
        let mut different: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
        for one in &matches {
            let name = one.found.name.clone().unwrap_or_else(|| place(one));
            different.entry(kind(one)).or_default().insert(name);
        }
        let first = matches.iter().find(|first| different[&kind(first)].len() >= first.rule.distinct)?;
        let span = &first.found.span;
        Some(format!("{}: {}:{}", first.rule.message, self.code.path(&span.file), span.start.0))
    }

    /// Returns the name of a dependency in the same repository, which may contain the code that the check wants. `None`
    /// if there is none, or if no dependency can decide the check.
    fn own_dependency(&self) -> Option<&'a str> {
        let decides = |dependency: &&Dependency| {
            let rules = self.source.languages.get(&dependency.language);
            dependency.own && rules.is_some_and(|rules| !rules.dependencies.is_empty())
        };
        self.code.facts.dependencies.iter().find(decides).map(|dependency| dependency.name.as_str())
    }

    /// Returns the file and line of each finding, waived or not.
    pub fn lines(&self) -> BTreeSet<(Option<String>, Option<u64>)> {
        self.findings()
            .into_iter()
            .map(|(_, finding)| (finding.evidence.file, finding.evidence.line))
            .collect()
    }

    fn evidence(&self, span: &CodeSpan, detail: String) -> Evidence {
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

    /// Returns a finding about the package as a whole, which names the manifest.
    fn about_package(&self, what: &str) -> Finding {
        let file = self.code.path(self.code.facts.manifest.as_deref().unwrap_or("."));
        Finding::new(MISSING, Evidence { file: Some(file), detail: what.to_owned(), ..Evidence::default() })
    }
}

fn names(languages: &[Language]) -> String {
    languages.iter().map(|language| language.name()).collect::<Vec<_>>().join(", ")
}
