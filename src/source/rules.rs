//! The checks' rules, compiled: one table a grammar, by kind of node.

use super::language::{ROWS, row};
use crate::error::{Error, Result};
use crate::report::catalogue::Check;
use crate::report::{Language, SourceRule};
use aho_corasick::{AhoCorasick, MatchKind};
use ast_grep_config::{DeserializeEnv, RuleCore, SerializableRuleCore, from_str};
use ast_grep_core::Matcher as _;
use ast_grep_language::SupportLang;
use std::collections::BTreeMap;

/// The word that opens a waiver in a comment.
pub(super) const WAIVER: &str = "agentnative-ignore";

/// The rules of source checks, ready to be held to code.
pub struct Rules {
    pub(super) languages: BTreeMap<Language, Vec<Origin>>,
}

/// A rule as the check's file has it.
#[derive(Clone)]
pub(super) struct Origin {
    pub check: String,
    pub rule: SourceRule,
}

impl Rules {
    /// The rules of `checks`; checks that are no source checks have none.
    pub fn of<'a>(checks: impl IntoIterator<Item = &'a Check>) -> Self {
        let mut languages: BTreeMap<Language, Vec<Origin>> = BTreeMap::new();
        for check in checks {
            for (language, rules) in check.source.iter().flat_map(|source| &source.languages) {
                let origins = rules.rules.iter().map(|rule| Origin { check: check.id.clone(), rule: rule.clone() });
                languages.entry(*language).or_default().extend(origins);
            }
        }
        Self { languages }
    }

    /// The rules of `language` for the first or the second pass, compiled for its grammars. In the
    /// second pass the words are `names`.
    pub(super) fn table(&self, language: Language, names: Option<&[String]>) -> Result<Table> {
        let origins = self.languages.get(&language).map_or(&[][..], Vec::as_slice);
        let origins: Vec<Origin> =
            origins.iter().filter(|origin| origin.rule.of.is_some() == names.is_some()).cloned().collect();
        let words: Vec<String> = match names {
            Some(names) => names.to_vec(),
            None => {
                let words = origins.iter().flat_map(|origin| &origin.rule.words).cloned();
                words.chain([WAIVER.to_owned()]).collect()
            }
        };
        Table::new(language, origins, &words)
    }
}

/// The rules of one pass over the files of one language.
pub(super) struct Table {
    pub origins: Vec<Origin>,
    words: AhoCorasick,
    /// For each word, whether it must begin and end where a word does.
    whole: Vec<(bool, bool)>,
    grammars: Vec<Grammar>,
}

/// The rules of a pass, compiled for one grammar.
pub(super) struct Grammar {
    lang: SupportLang,
    /// As [`Table::origins`].
    pub rules: Vec<RuleCore>,
    /// Kind of node → rules that can match it.
    pub kinds: Vec<Vec<usize>>,
    /// Where the program starts and ends.
    pub entry: RuleCore,
    /// Tests.
    pub tests: Option<RuleCore>,
}

impl Table {
    fn new(language: Language, origins: Vec<Origin>, words: &[String]) -> Result<Self> {
        let whole = words.iter().map(|word| (!word.starts_with('*'), !word.ends_with('*'))).collect();
        let words = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(words.iter().map(|word| word.trim_matches('*')))
            .map_err(|error| Error::general(format!("the words of the source rules: {error}")))?;
        let mut langs: Vec<SupportLang> = row(language).grammars.iter().map(|(_, lang)| *lang).collect();
        langs.dedup();
        let grammars = langs.into_iter().map(|lang| Grammar::new(language, lang, &origins)).collect::<Result<_>>()?;
        Ok(Self { origins, words, whole, grammars })
    }

    /// The rules for this grammar.
    pub fn grammar(&self, lang: SupportLang) -> Option<&Grammar> {
        self.grammars.iter().find(|grammar| grammar.lang == lang)
    }

    /// Where in `text` the words are, in order. A part of a longer word is none, unless a `*` allows it.
    pub fn hits(&self, text: &[u8]) -> Vec<usize> {
        let word = |at: usize| text.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        let hits = self.words.find_overlapping_iter(text).filter(|hit| {
            let (start, end) = self.whole[hit.pattern()];
            let inner_start = start && hit.start() > 0 && word(hit.start() - 1) && word(hit.start());
            let inner_end = end && word(hit.end() - 1) && word(hit.end());
            !inner_start && !inner_end
        });
        let mut hits: Vec<usize> = hits.map(|hit| hit.start()).collect();
        hits.sort_unstable();
        hits.dedup();
        hits
    }
}

impl Grammar {
    fn new(language: Language, lang: SupportLang, origins: &[Origin]) -> Result<Self> {
        let mut rules = Vec::new();
        let mut kinds: Vec<Vec<usize>> = Vec::new();
        for (index, Origin { check, rule }) in origins.iter().enumerate() {
            let wrong = |what: String| Error::general(format!("{check}, {}, rule {}: {what}", language.name(), rule.name));
            let core = compile(lang, &rule.rule).map_err(&wrong)?;
            let can = core.potential_kinds().ok_or_else(|| wrong("it must name a kind of node".to_owned()))?;
            for kind in &can {
                if kinds.len() <= kind {
                    kinds.resize(kind + 1, Vec::new());
                }
                kinds[kind].push(index);
            }
            rules.push(core);
        }
        let own = |yaml: &str| {
            compile(lang, &format!("rule: {yaml}"))
                .map_err(|what| Error::general(format!("the row of {}: {what}", language.name())))
        };
        let row = &ROWS[language as usize];
        Ok(Self { lang, rules, kinds, entry: own(row.entry)?, tests: row.tests.map(own).transpose()? })
    }
}

fn compile(lang: SupportLang, yaml: &str) -> Result<RuleCore, String> {
    let core: SerializableRuleCore = from_str(yaml).map_err(|error| error.to_string())?;
    core.get_matcher(DeserializeEnv::new(lang)).map_err(|error| {
        let mut message = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(inner) = cause {
            message.push_str(&format!(": {inner}"));
            cause = inner.source();
        }
        message
    })
}
