//! The source checks: their snippets one by one, walking, projects, waivers.

use agentnative::judge::source::{Code, judge, notes};
use agentnative::report::catalogue::{Check, checks};
use agentnative::report::{CheckResult, Language, Snippet, Status};
use agentnative::source::{Facts, Rules, Why, scan};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;
use tempfile::TempDir;

/// A package with these files.
fn package(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (file, text) in files {
        write(folder.path(), file, text.as_bytes());
    }
    folder
}

fn write(folder: &Path, file: &str, bytes: &[u8]) {
    let path = folder.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn facts(folder: &Path) -> Facts {
    static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::of(checks()));
    scan(folder, &RULES).unwrap()
}

/// The verdict of one check on a package.
fn verdict(id: &str, facts: &Facts, output: &[String]) -> CheckResult {
    let check = source_checks().find(|check| check.id == id).unwrap();
    let code = Code { facts, checks: checks(), output };
    judge(&code, &[check]).pop().unwrap()
}

fn source_checks() -> impl Iterator<Item = &'static Check> {
    checks().iter().filter(|check| check.source.is_some())
}

/// Each snippet of each check, with what is wrong with it.
fn snippets(wrong: impl Fn(&Check, Language, &Snippet, bool) -> Option<String>) {
    let mut all = Vec::new();
    for check in source_checks() {
        for (language, rules) in &check.source.as_ref().unwrap().languages {
            let good = rules.good.iter().map(|snippet| (snippet, true));
            for (snippet, good) in good.chain(rules.bad.iter().map(|snippet| (snippet, false))) {
                if let Some(what) = wrong(check, *language, snippet, good) {
                    all.push(format!("{} {}: {what}\n{}", check.id, language.name(), snippet.code));
                }
            }
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn bad_snippets_fire_and_good_ones_are_silent() {
    snippets(|check, _, snippet, good| {
        let folder = package(&[(&snippet.file, &snippet.code)]);
        let facts = facts(folder.path());
        if !facts.skipped.is_empty() {
            return Some(format!("the snippet is skipped: {:?}", facts.skipped));
        }
        let result = verdict(&check.id, &facts, &[]);
        match (good, result.status) {
            (true, Status::Pass | Status::Unverified) | (false, Status::Warn | Status::Fail) => None,
            (true, status) => Some(format!("noisy: {status:?} {} {:#?}", result.message, result.evidence)),
            (false, status) => Some(format!("missing: {status:?} {}", result.message)),
        }
    });
}

#[test]
fn snippets_are_of_their_language_and_matches_hold_their_words() {
    snippets(|_, language, snippet, _| {
        let folder = package(&[(&snippet.file, &snippet.code)]);
        let facts = facts(folder.path());
        if facts.files.keys().collect::<Vec<_>>() != [&language] {
            return Some(format!("it is {:?}", facts.files));
        }
        facts.matches.iter().find_map(|found| {
            let check = checks().iter().find(|check| check.id == found.check).unwrap();
            let rules = &check.source.as_ref().unwrap().languages[&language].rules;
            let rule = rules.iter().find(|rule| rule.name == found.rule).unwrap();
            let text = &snippet.code[found.span.range.clone()];
            let holds = rule.of.is_some() || rule.words.iter().any(|word| text.contains(word.trim_matches('*')));
            (!holds).then(|| format!("the match of {} holds none of its words: {text}", rule.name))
        })
    });
}

#[test]
fn every_source_check_is_whole() {
    let mut count = 0;
    for check in source_checks() {
        count += 1;
        let source = check.source.as_ref().unwrap();
        assert_eq!(source.languages.len(), Language::ALL.len(), "{}: a language is missing", check.id);
        for (language, rules) in &source.languages {
            let at = format!("{} {}", check.id, language.name());
            assert!(!rules.good.is_empty() && !rules.bad.is_empty(), "{at}: both kinds of snippet are needed");
            assert!(!rules.not_covered.is_empty(), "{at}: say what is not covered");
            let mut names: Vec<_> = rules.rules.iter().map(|rule| &rule.name).collect();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), rules.rules.len(), "{at}: a rule's name is used twice");
            for rule in &rules.rules {
                assert_eq!(rule.words.is_empty(), rule.of.is_some(), "{at} {}: words, or `of`", rule.name);
                let about = rule.of.as_ref().is_none_or(|of| rules.rules.iter().any(|rule| rule.name == *of));
                assert!(about, "{at} {}: `of` names no rule", rule.name);
            }
        }
    }
    assert_eq!(count, 7);
}
