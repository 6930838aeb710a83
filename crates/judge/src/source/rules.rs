//! The compiled rules of the source checks: one table per grammar, by kind of node.

use super::language::language_row;
use agentnative_contract::error::{Error, Result};
use agentnative_core::catalogue::{Check, SourceRule};
use agentnative_core::model::{CheckId, Language};
use aho_corasick::{AhoCorasick, MatchKind};
use ast_grep_config::{DeserializeEnv, RuleCore, SerializableRuleCore, from_str};
use ast_grep_core::Matcher as _;
use ast_grep_language::SupportLang;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Word that begins a waiver in a comment.
pub(super) const WAIVER: &str = "agentnative-ignore";

/// The rules of source checks. A rule is compiled when it is first needed, and only once.
pub struct Rules {
    /// IDs of the checks with rules, each with a fingerprint of its rules.
    pub(super) fingerprints: BTreeMap<String, u64>,
    languages: BTreeMap<Language, Passes>,
}

/// The rules of one language in two passes. Rules of the second pass search for names that rules of the first pass
/// captured.
struct Passes {
    first: Pass,
    second: Pass,
}

/// The rules of one pass over the files of one language.
struct Pass {
    language: Language,
    origins: Vec<Origin>,
    grammars: Vec<(SupportLang, OnceLock<Result<Grammar>>)>,
}

pub(super) struct Origin {
    pub check: CheckId,
    pub rule: SourceRule,
}

impl Rules {
    /// Collects the rules of `checks`; only source checks have any.
    pub fn new<'a>(checks: impl IntoIterator<Item = &'a Check>) -> Self {
        let mut languages: BTreeMap<Language, Passes> = BTreeMap::new();
        let mut fingerprints = BTreeMap::new();
        for check in checks {
            let source = check.source.as_ref();
            fingerprints.extend(source.map(|source| (check.id.to_string(), source.fingerprint())));
            for (language, rules) in check.source.iter().flat_map(|source| &source.languages) {
                let passes = languages
                    .entry(*language)
                    .or_insert_with(|| Passes { first: Pass::new(*language), second: Pass::new(*language) });
                for rule in &rules.rules {
                    let pass = if rule.of.is_some() { &mut passes.second } else { &mut passes.first };
                    pass.origins.push(Origin { check: check.id, rule: rule.clone() });
                }
            }
        }
        Self { fingerprints, languages }
    }

    /// Returns the rules of `language` for the first pass; `None` if there are none.
    pub(super) fn first_pass_rules(&self, language: Language) -> Option<Result<RuleTable<'_>>> {
        let pass = &self.languages.get(&language)?.first;
        let words = pass.origins.iter().flat_map(|origin| &origin.rule.words).map(String::as_str);
        Some(RuleTable::new(pass, &words.chain([WAIVER]).collect::<Vec<_>>()))
    }

    /// Returns the rules of `language` for the second pass, which search for `names` that the first pass captured.
    /// `None` if there are none.
    pub(super) fn second_pass_rules(
        &self,
        language: Language,
        names: &[&str],
    ) -> Option<Result<RuleTable<'_>>> {
        let pass = &self.languages.get(&language)?.second;
        Some(RuleTable::new(pass, names))
    }

    /// True if the second pass searches for the names that this rule captures, because another rule has the name of
    /// this rule in `of`.
    pub(super) fn is_named(&self, language: Language, check: &str, rule: &str) -> bool {
        let about =
            |origin: &Origin| origin.check.as_str() == check && origin.rule.of.as_deref() == Some(rule);
        self.languages.get(&language).is_some_and(|passes| passes.second.origins.iter().any(about))
    }
}

impl Pass {
    fn new(language: Language) -> Self {
        let mut langs: Vec<SupportLang> =
            language_row(language).grammars.iter().map(|(_, lang)| *lang).collect();
        langs.dedup();
        let grammars = langs.into_iter().map(|lang| (lang, OnceLock::new())).collect();
        Self { language, origins: Vec::new(), grammars }
    }
}

/// The rules of a pass, with the words that a file has to contain before they are matched.
pub(super) struct RuleTable<'a> {
    pass: &'a Pass,
    words: AhoCorasick,
    /// For each word, two flags: it has to start at a word boundary, and it has to end at one.
    boundaries: Vec<(bool, bool)>,
}

/// The rules of a pass, compiled for one grammar.
pub(super) struct Grammar {
    /// Compiled rules, in the order of [`Pass::origins`].
    pub rules: Vec<RuleCore>,
    /// For each kind of syntax node, the indexes of the rules that can match it.
    pub kinds: Vec<Vec<usize>>,
    /// Rule that matches code in which the program starts and ends.
    pub entry: RuleCore,
    pub tests: Option<RuleCore>,
    /// Rule that matches code that makes a file a separate program.
    pub program: Option<RuleCore>,
}

impl<'a> RuleTable<'a> {
    fn new(pass: &'a Pass, words: &[&str]) -> Result<Self> {
        let boundaries = words.iter().map(|word| (!word.starts_with('*'), !word.ends_with('*'))).collect();
        let words = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(words.iter().map(|word| word.trim_matches('*')))
            .map_err(|error| Error::general(format!("the words of the source rules: {error}")))?;
        Ok(Self { pass, words, boundaries })
    }

    /// Returns the rule with this index, and its check.
    pub fn rule_origin(&self, index: usize) -> &Origin {
        &self.pass.origins[index]
    }

    /// Returns the rules, compiled for this grammar. They are compiled on the first call.
    pub fn grammar(&self, lang: SupportLang) -> Result<&Grammar> {
        let known = self.pass.grammars.iter().find(|(known, _)| *known == lang);
        let (_, grammar) = known.ok_or_else(|| {
            Error::general(format!("{lang} is not a grammar of {}", self.pass.language.name()))
        })?;
        let compiled = grammar.get_or_init(|| Grammar::new(self.pass.language, lang, &self.pass.origins));
        compiled.as_ref().map_err(Clone::clone)
    }

    /// Returns the byte offsets at which the words of the rules occur in `text`, in order. A word inside of a longer
    /// word only counts if it is declared with a `*` there.
    pub fn hits(&self, text: &[u8]) -> Vec<usize> {
        let word = |offset: usize| {
            text.get(offset).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        };
        let hits = self.words.find_overlapping_iter(text).filter(|hit| {
            let (start, end) = self.boundaries[hit.pattern()];
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
            let wrong = |what: String| {
                Error::general(format!("{check}, {}, rule {}: {what}", language.name(), rule.name))
            };
            let core = compile(lang, &rule.rule).map_err(&wrong)?;
            let can =
                core.potential_kinds().ok_or_else(|| wrong("it must name a kind of node".to_owned()))?;
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
        let row = language_row(language);
        let (tests, program) = (row.tests.map(own).transpose()?, row.program.map(own).transpose()?);
        Ok(Self { rules, kinds, entry: own(row.entry)?, tests, program })
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
