//! Regular expressions: whether all that one matches another matches too.

use regex_automata::dfa::dense::{Builder, Config, DFA};
use regex_automata::dfa::{Automaton as _, StartKind};
use regex_automata::util::{start, syntax};
use regex_automata::{Anchored, nfa::thompson};
use std::collections::{HashMap, VecDeque};
use std::sync::{LazyLock, Mutex, PoisonError};

/// States of an automaton (in bytes) and pairs of states that are looked at, at most.
const MAX_SIZE: usize = 4 << 20;
const MAX_PAIRS: usize = 200_000;

/// What comes of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Covers {
    /// All strings are matched.
    Yes,
    /// This one is not.
    No(String),
    /// It cannot be told.
    Unknown,
}

static REGEXES: LazyLock<Mutex<HashMap<String, Option<regex::Regex>>>> = LazyLock::new(Mutex::default);

/// Whether a pattern of a schema matches somewhere in a text; a pattern that is none matches nothing.
pub(super) fn is_match(pattern: &str, text: &str) -> bool {
    let mut known = REGEXES.lock().unwrap_or_else(PoisonError::into_inner);
    let regex = known
        .entry(pattern.to_owned())
        .or_insert_with(|| regex::Regex::new(&jsonschema_regex::to_rust_regex(pattern).ok()?).ok());
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

/// A string that a pattern matches.
pub(super) fn example(pattern: &str) -> Option<String> {
    jsonschema_regex::pattern_witness(pattern).filter(|text| is_match(pattern, text))
}

/// Whether every string that all of `all` match is matched by `wide`, too.
pub(super) fn covers(wide: &str, all: &[&str]) -> Covers {
    let automata: Option<Vec<_>> = std::iter::once(wide).chain(all.iter().copied()).map(automaton).collect();
    automata.and_then(|automata| search(&automata)).unwrap_or(Covers::Unknown)
}

/// A string that all of these patterns match.
pub(super) fn example_of_all(patterns: &[&str]) -> Option<String> {
    let never = compile_dfa("[^\\s\\S]")?;
    let automata: Option<Vec<_>> = patterns.iter().map(|pattern| automaton(pattern)).collect();
    let mut all = vec![never];
    all.extend(automata?);
    match search(&all)? {
        Covers::No(text) => Some(text),
        _ => None,
    }
}

/// An automaton over whole strings that have a match in them.
fn automaton(pattern: &str) -> Option<DFA<Vec<u32>>> {
    compile_dfa(&jsonschema_regex::to_rust_regex(pattern).ok()?)
}

fn compile_dfa(pattern: &str) -> Option<DFA<Vec<u32>>> {
    let config = Config::new()
        .start_kind(StartKind::Anchored)
        .dfa_size_limit(Some(MAX_SIZE))
        .determinize_size_limit(Some(MAX_SIZE));
    Builder::new()
        .configure(config)
        .syntax(syntax::Config::new().unicode(true).utf8(true))
        .thompson(thompson::Config::new().nfa_size_limit(Some(MAX_SIZE)))
        .build(&format!("(?s:.*)(?:{pattern})(?s:.*)"))
        .ok()
}

/// Looks for a string that the first automaton rejects and all others accept: the shortest.
fn search(automata: &[DFA<Vec<u32>>]) -> Option<Covers> {
    type States = Vec<regex_automata::util::primitives::StateID>;
    let config = start::Config::new().anchored(Anchored::Yes);
    let begin: Option<States> = automata.iter().map(|dfa| dfa.start_state(&config).ok()).collect();
    // Valid UTF-8 is one more automaton: only such strings count.
    let any = automaton("")?;
    let mut begin = begin?;
    begin.push(any.start_state(&config).ok()?);
    let all: Vec<&DFA<Vec<u32>>> = automata.iter().chain([&any]).collect();
    // A byte for each class of bytes that no automaton tells apart; letters first, for people.
    let mut bytes: Vec<u8> = Vec::new();
    let mut classes = std::collections::HashSet::new();
    let pleasant = (b'a'..=b'z').chain(b'0'..=b'9').chain(b'A'..=b'Z').chain(b' '..=b'~');
    for byte in pleasant.chain(0..=255) {
        let class: Vec<u8> = all.iter().map(|dfa| dfa.byte_classes().get(byte)).collect();
        if classes.insert(class) {
            bytes.push(byte);
        }
    }
    let mut seen: HashMap<States, Option<(States, u8)>> = HashMap::from([(begin.clone(), None)]);
    let mut queue = VecDeque::from([begin]);
    while let Some(states) = queue.pop_front() {
        let accepts = |nth: usize| all[nth].is_match_state(all[nth].next_eoi_state(states[nth]));
        if !accepts(0) && (1..all.len()).all(accepts) {
            let (mut text, mut at) = (Vec::new(), &states);
            while let Some(Some((before, byte))) = seen.get(at) {
                text.push(*byte);
                at = before;
            }
            text.reverse();
            return String::from_utf8(text).ok().map(Covers::No);
        }
        for byte in &bytes {
            let next: States =
                all.iter().zip(&states).map(|(dfa, state)| dfa.next_state(*state, *byte)).collect();
            if all.iter().zip(&next).any(|(dfa, state)| dfa.is_quit_state(*state)) {
                return None;
            }
            let hopeless = (1..all.len()).any(|nth| all[nth].is_dead_state(next[nth]));
            if hopeless || seen.contains_key(&next) {
                continue;
            }
            if seen.len() > MAX_PAIRS {
                return None;
            }
            seen.insert(next.clone(), Some((states.clone(), *byte)));
            queue.push_back(next);
        }
    }
    Some(Covers::Yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inclusion_is_decided() {
        for (wide, narrow, included) in [
            ("^[a-z]+$", "^[a-f]+$", true),
            ("^[a-f]+$", "^[a-z]+$", false),
            ("^[0-9]+$", "^[0-9][0-9]*$", true),
            ("^a", "^ab", true),
            ("", "x", true),
            ("^\\d{4}$", "^[0-9]{4}$", true),
            ("^[0-9]{4}$", "^[0-9]{3,4}$", false),
            ("é", "^ée$", true),
        ] {
            let found = covers(wide, &[narrow]);
            assert_eq!(found == Covers::Yes, included, "{wide} {narrow} {found:?}");
            if let Covers::No(text) = found {
                assert!(
                    super::is_match(narrow, &text) && !super::is_match(wide, &text),
                    "{wide} {narrow} {text}"
                );
            }
        }
    }

    #[test]
    fn several_patterns_count_together() {
        assert_eq!(covers("^a[^\n]*c$", &["^a[^\n]*$", "c$"]), Covers::Yes);
        assert_eq!(example_of_all(&["^a", "b$"]), Some("ab".to_owned()));
        assert_eq!(covers("(?=a)", &["a"]), Covers::Unknown);
    }
}
