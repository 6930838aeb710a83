//! What is said where no probe of a kind is declared: silence is no way out.

use super::context::CheckContext;
use super::verdict::Judgement;
use agentnative_core::config::Feature;

/// A kind of probe that some targets have and others have nothing of.
pub struct Undeclared<'a> {
    /// What it is in `lacks`.
    pub feature: Feature,
    /// Words in the names of commands that are of this kind.
    pub words: &'a [&'a str],
    /// That there is none, such as "no probe has `list`".
    pub no_probe: &'a str,
    /// What to declare.
    pub declare: &'a str,
    /// When `lacks` is right, such as "the target has no lists".
    pub lacking: &'a str,
    /// What a command of this kind does, such as "lists".
    pub does: &'a str,
}

/// The judgement of a target that lacks a feature by its configuration; `lacking` says so, such as "the target has no
/// lists".
pub fn without_feature(context: &CheckContext, feature: Feature, lacking: &str) -> Option<Judgement> {
    let lacks = context.profile.conventions.lacks.contains(&feature);
    lacks.then(|| Judgement::NotApplicable(format!("{lacking} according to its configuration")))
}

impl Undeclared<'_> {
    /// Unverified where the help has a command whose name says that it is of this kind; else the check does not
    /// concern the target.
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
