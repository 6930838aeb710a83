//! Judgements for a feature without a declared probe.

use super::context::CheckContext;
use super::verdict::Judgement;
use agentnative_core::config::Feature;

/// A feature that only some targets have, with the kind of probe that shows it.
pub struct UndeclaredFeature<'a> {
    pub feature: Feature,
    /// Words in the names of commands with this feature.
    pub words: &'a [&'a str],
    /// States that no probe is declared, such as "no probe has `list`".
    pub no_probe: &'a str,
    /// What to declare.
    pub declare: &'a str,
    /// When `lacks` is correct, such as "the target has no lists".
    pub lacking: &'a str,
    /// What a command with this feature does, such as "lists".
    pub does: &'a str,
}

/// Returns the judgement of a target that declares to lack a feature; `lacking` says so, such as "the target has no
/// lists".
pub fn without_feature(context: &CheckContext, feature: Feature, lacking: &str) -> Option<Judgement> {
    let lacks = context.profile.conventions.lacks.contains(&feature);
    lacks.then(|| Judgement::NotApplicable(format!("{lacking} according to its configuration")))
}

impl UndeclaredFeature<'_> {
    /// Returns unverified if the help has a command whose name indicates the feature; otherwise not applicable.
    pub fn judgement(&self, context: &CheckContext) -> Judgement {
        let Self { feature, words, no_probe, declare, lacking, does } = self;
        if let Some(judgement) = without_feature(context, *feature, lacking) {
            return judgement;
        }
        let is_word = |word: &str| words.contains(&word.to_lowercase().as_str());
        let named =
            |name: &&String| is_word(name) || name.split(|char: char| !char.is_alphanumeric()).any(is_word);
        match context.profile.commands.iter().find(named) {
            Some(command) => Judgement::unverified(format!(
                "the help lists the command `{command}`, but {no_probe}: declare {declare}, or `lacks = [\"{}\"]` if {lacking}",
                feature.name()
            )),
            None => Judgement::NotApplicable(format!("{no_probe}, and the help has no command that {does}")),
        }
    }
}
