//! Decides whether a regular expression matches every string that other regular expressions match.

use regex_automata::dfa::dense::{Builder, Config, DFA};
use regex_automata::dfa::{Automaton as _, StartKind};
use regex_automata::util::{start, syntax};
use regex_automata::{Anchored, nfa::thompson};
use std::collections::{HashMap, VecDeque};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Maximum size of an automaton, in bytes.
const MAX_SIZE: usize = 4 << 20;
/// Maximum number of combinations of automaton states that the search visits.
const MAX_PAIRS: usize = 200_000;

/// Whether one pattern matches all strings that other patterns match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Coverage {
    /// The pattern matches all strings that the other patterns match.
    Yes,
    /// The other patterns match this string, and the pattern does not.
    No(String),
    /// The comparison of the patterns cannot decide.
    Unknown,
}

static REGEXES: LazyLock<Mutex<HashMap<String, Option<regex::Regex>>>> = LazyLock::new(Mutex::default);

/// Returns whether a schema pattern matches somewhere in a text. An invalid pattern matches nothing.
pub(super) fn is_match(pattern: &str, text: &str) -> bool {
    let mut regexes = REGEXES.lock().unwrap_or_else(PoisonError::into_inner);
    let regex = regexes
        .entry(pattern.to_owned())
        .or_insert_with(|| regex::Regex::new(&jsonschema_regex::to_rust_regex(pattern).ok()?).ok());
    regex.as_ref().is_some_and(|regex| regex.is_match(text))
}

/// Returns a string that a pattern matches. `None` if none can be generated.
pub(super) fn example(pattern: &str) -> Option<String> {
    jsonschema_regex::pattern_witness(pattern).filter(|text| is_match(pattern, text))
}

/// Returns whether `wide` matches every string that all patterns in `all` match.
pub(super) fn covers(wide: &str, all: &[&str]) -> Coverage {
    let automata: Option<Vec<_>> = std::iter::once(wide).chain(all.iter().copied()).map(automaton).collect();
    automata.and_then(|automata| find_counterexample(&automata)).unwrap_or(Coverage::Unknown)
}

/// Returns a string that all patterns match. `None` if there is none, or it cannot be found.
pub(super) fn example_of_all(patterns: &[&str]) -> Option<String> {
    let never = compile_dfa("[^\\s\\S]")?;
    let automata: Option<Vec<_>> = patterns.iter().map(|pattern| automaton(pattern)).collect();
    let mut all = vec![never];
    all.extend(automata?);
    match find_counterexample(&all)? {
        Coverage::No(text) => Some(text),
        _ => None,
    }
}

/// Compiles a schema pattern to an automaton that accepts every string in which the pattern matches somewhere. `None`
/// if the pattern is invalid or too large.
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

/// Searches for the shortest string that the first automaton rejects and all other automata accept. `Coverage::No`
/// contains that string; `Coverage::Yes` means that there is none; `None` means that the search cannot decide.
fn find_counterexample(automata: &[DFA<Vec<u32>>]) -> Option<Coverage> {
    type States = Vec<regex_automata::util::primitives::StateID>;
    let config = start::Config::new().anchored(Anchored::Yes);
    let start_states: Option<States> = automata.iter().map(|dfa| dfa.start_state(&config).ok()).collect();
    // One more automaton restricts the search to valid UTF-8.
    let any = automaton("")?;
    let mut start_states = start_states?;
    start_states.push(any.start_state(&config).ok()?);
    let all: Vec<&DFA<Vec<u32>>> = automata.iter().chain([&any]).collect();
    // One representative byte for each class of bytes that all automata treat alike; readable characters are preferred.
    let mut bytes: Vec<u8> = Vec::new();
    let mut classes = std::collections::HashSet::new();
    let readable = (b'a'..=b'z').chain(b'0'..=b'9').chain(b'A'..=b'Z').chain(b' '..=b'~');
    for byte in readable.chain(0..=255) {
        let class: Vec<u8> = all.iter().map(|dfa| dfa.byte_classes().get(byte)).collect();
        if classes.insert(class) {
            bytes.push(byte);
        }
    }
    let mut seen: HashMap<States, Option<(States, u8)>> = HashMap::from([(start_states.clone(), None)]);
    let mut queue = VecDeque::from([start_states]);
    while let Some(states) = queue.pop_front() {
        let accepts = |nth: usize| all[nth].is_match_state(all[nth].next_eoi_state(states[nth]));
        if !accepts(0) && (1..all.len()).all(accepts) {
            let (mut text, mut at) = (Vec::new(), &states);
            while let Some(Some((before, byte))) = seen.get(at) {
                text.push(*byte);
                at = before;
            }
            text.reverse();
            return String::from_utf8(text).ok().map(Coverage::No);
        }
        for byte in &bytes {
            let next: States =
                all.iter().zip(&states).map(|(dfa, state)| dfa.next_state(*state, *byte)).collect();
            if all.iter().zip(&next).any(|(dfa, state)| dfa.is_quit_state(*state)) {
                return None;
            }
            let is_dead = (1..all.len()).any(|nth| all[nth].is_dead_state(next[nth]));
            if is_dead || seen.contains_key(&next) {
                continue;
            }
            if seen.len() > MAX_PAIRS {
                return None;
            }
            seen.insert(next.clone(), Some((states.clone(), *byte)));
            queue.push_back(next);
        }
    }
    Some(Coverage::Yes)
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
            assert_eq!(found == Coverage::Yes, included, "{wide} {narrow} {found:?}");
            if let Coverage::No(text) = found {
                assert!(
                    super::is_match(narrow, &text) && !super::is_match(wide, &text),
                    "{wide} {narrow} {text}"
                );
            }
        }
    }

    #[test]
    fn several_patterns_count_together() {
        assert_eq!(covers("^a[^\n]*c$", &["^a[^\n]*$", "c$"]), Coverage::Yes);
        assert_eq!(example_of_all(&["^a", "b$"]), Some("ab".to_owned()));
        assert_eq!(covers("(?=a)", &["a"]), Coverage::Unknown);
    }
}
