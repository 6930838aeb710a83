//! Judges checks of an optional feature of the target, such as lists, for which no probe is declared.

use super::context::CheckContext;
use super::verdict::Judgement;
use agentnative_core::config::Feature;

/// An optional feature of the target, such as lists, with parts of the messages for a missing probe.
pub struct UndeclaredFeature<'a> {
    pub feature: Feature,
    /// Words in command names that indicate the feature, such as `fetch`.
    pub words: &'a [&'a str],
    /// Part of a message: no probe is declared, such as "no probe has `list`".
    pub no_probe: &'a str,
    /// Part of a message: the probe to declare, as the object of "declare".
    pub declare: &'a str,
    /// Part of a message: the target does not have the feature, such as "the target has no lists".
    pub lacking: &'a str,
    /// Part of a message: what a command with this feature does, such as "lists".
    pub does: &'a str,
}

/// Returns "not applicable" if the configuration declares that the target lacks `feature`, otherwise `None`. `lacking`
/// is the start of the message, such as "the target has no lists".
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
