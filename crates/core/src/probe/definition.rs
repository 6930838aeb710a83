//! A probe or derived call: one call of the target.

use super::args::insert_last;
use super::profile::{TargetProfile, is_output_flag};
use crate::catalogue::DerivedKind;
use crate::config::{
    CallConfig, CommonOption, FORMAT_PLACEHOLDER, FormatFlag, ProbeConfig, STALLED_PLACEHOLDER, TargetConfig,
    insert_format_flag,
};
use crate::model::{CallOutcome, ExploredOrigin, OutputFormat, ProbeId};
use crate::run::RunKey;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A call of the target: a declared probe or a derived call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// The identity, which does not depend on the name.
    pub id: ProbeId,
    /// The name of the call in reports, unique among all probes of the target.
    pub name: String,
    /// The arguments, environment and other properties of the call.
    #[serde(flatten)]
    pub call: CallConfig,
    /// Whether each run adds the format flag to the arguments of the call.
    pub asks_format: bool,
    /// The expected exit code; `None` without an expectation.
    pub exit: Option<i32>,
    /// The formats in which the call runs.
    pub formats: Vec<OutputFormat>,
    /// The position at which the target accepts the format flag. `None` if it is after the arguments or was not
    /// determined.
    #[serde(default, rename = "place", skip_serializing_if = "Option::is_none")]
    pub flag_position: Option<FlagPosition>,
    /// The effect of a call that changes something; `None` for any other call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Time limit after which a run is killed.
    pub timeout: Duration,
    /// Whether confined runs can write to the folder that they start in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub writes: bool,
    /// The origin of an explored call and of each call that is derived from it; `None` for any other call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explored: Option<ExploredOrigin>,
}

/// The declared effect of a call that changes something. Each of its runs is confined and starts in a copy of the
/// workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The arguments without the option that confirms the call; `None` if the call needs no confirmation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unconfirmed: Option<Vec<String>>,
    /// Whether the configuration declares that a second call changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub idempotent: bool,
    /// Whether the configuration declares that a second call changes something again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_idempotent: bool,
    /// The formats of the call. [`Probe::formats`] is empty instead, unless the configuration declares formats of the
    /// probe.
    pub formats: Vec<OutputFormat>,
    /// The expected exit code of a dry run.
    pub dry_run_exit: Option<i32>,
}

/// A position of the format flag in a call, other than after all arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlagPosition {
    /// Before all arguments.
    Front,
    /// After the first argument that is not a flag.
    #[serde(rename = "behind-first")]
    AfterFirst,
}

impl FlagPosition {
    /// Returns a description of the position for reports, such as `before the subcommand`.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Front => "before the subcommand",
            Self::AfterFirst => "after the first argument",
        }
    }
}

impl Probe {
    /// Creates the probe for a declaration in the configuration or in `--probe`.
    pub fn declared(config: &ProbeConfig, target: &TargetConfig) -> Self {
        let formats: Vec<OutputFormat> = config.formats_for(target).collect();
        let declared = config.call.flags.get(&CommonOption::Confirm);
        let confirm = declared.unwrap_or_else(|| target.conventions.flags.get(CommonOption::Confirm));
        let mut call = config.call.clone();
        if config.effect.is_some_and(|effect| effect.destructive) {
            call.args = insert_last(&call.args, confirm.args().unwrap_or_default());
        }
        let effect = config.effect.map(|effect| Effect {
            unconfirmed: effect.destructive.then(|| config.call.args.clone()),
            idempotent: effect.idempotent == Some(true),
            not_idempotent: effect.idempotent == Some(false),
            formats: formats.clone(),
            dry_run_exit: config.dry_run_exit.or(target.dry_run_exit).or(Some(config.exit)),
        });
        // Each run of a call that waits for the stalled server would last until its time limit.
        let words = || config.call.args.iter().chain(config.call.env.values());
        let runs_anyway = config.effect.is_none_or(|effect| effect.formats_declared)
            && !words().any(|word| word.contains(STALLED_PLACEHOLDER));
        Self {
            id: ProbeId::declared(&config.name),
            name: config.name.clone(),
            call,
            asks_format: true,
            exit: Some(config.exit),
            formats: if runs_anyway { formats } else { Vec::new() },
            flag_position: None,
            effect,
            timeout: config.timeout.unwrap_or(target.timeout),
            writes: config.writes || target.writes,
            explored: None,
        }
    }

    /// Returns the probe with its arguments replaced.
    #[must_use]
    pub fn with_args(mut self, args: Vec<String>) -> Self {
        self.call.args = args;
        self
    }

    /// Returns whether the configuration or the command line declares the probe.
    pub fn is_declared(&self) -> bool {
        matches!(self.id, ProbeId::Declared(_))
    }

    /// Returns whether other calls can be derived from the probe: it is declared or explored.
    pub fn is_source(&self) -> bool {
        matches!(self.id, ProbeId::Declared(_) | ProbeId::Explored { .. })
    }

    /// Returns whether the probe runs under all conditions that the checks need. An explored call that was only tried
    /// does not.
    pub fn is_kept(&self) -> bool {
        self.explored.as_ref().is_none_or(|origin| origin.is_kept)
    }

    /// Returns whether this explored call, or the one that it is derived from, ended in this way.
    pub fn has_outcome(&self, outcome: CallOutcome) -> bool {
        self.explored.as_ref().is_some_and(|origin| origin.outcome == outcome)
    }

    /// Returns the first consecutive arguments that are not flags, such as `remote`, `add`. They may name a command.
    /// Flags before them are skipped.
    pub fn command_words(&self) -> impl Iterator<Item = &str> {
        let is_flag = |word: &&str| word.starts_with('-');
        let words = self.call.args.iter().map(String::as_str).filter(|word| *word != FORMAT_PLACEHOLDER);
        words.skip_while(is_flag).take_while(move |word| !is_flag(word))
    }

    /// Returns whether the arguments of the probe begin with the words of this command, such as `remote`, `add`.
    pub fn calls(&self, command: &[String]) -> bool {
        self.command_words().take(command.len()).eq(command)
    }

    /// Returns whether the runs have to be confined, because they change something or may do so.
    pub fn is_confined(&self) -> bool {
        self.effect.is_some()
            || self.is_kind(DerivedKind::Example)
            || self.is_kind(DerivedKind::BundleInstall)
            || self.is_kind(DerivedKind::VanishedOption)
    }

    /// Returns whether the declared call itself is not run: it changes something or calls the server that never
    /// answers. Only calls that are derived for this purpose run.
    pub fn runs_only_in_scenarios(&self) -> bool {
        self.is_declared() && self.formats.is_empty() && (self.effect.is_some() || self.is_stalled())
    }

    /// Returns whether only a single check judges how the runs end. Such runs are interrupted or time out, or their
    /// calls are not declared.
    pub fn has_special_end(&self) -> bool {
        use DerivedKind::{AnonymousRequest, Example, Interrupted, InvalidRequest, Sigint, Timeout};
        let kinds = [Interrupted, Sigint, Timeout, InvalidRequest, AnonymousRequest, Example];
        kinds.into_iter().any(|kind| self.is_kind(kind))
    }

    /// Returns whether the runs get a secret: the secret of the target, or a non-empty one in the `env` of the probe.
    pub fn has_secret(&self, profile: &TargetProfile) -> bool {
        let variable = profile.conventions.secret.as_ref().and_then(|secret| self.call.env.get(&secret.env));
        self.call.secret || variable.is_some_and(|value| !value.is_empty())
    }

    /// Returns whether the probe calls the stalled server, which accepts connections and never answers.
    pub fn is_stalled(&self) -> bool {
        self.call.args.iter().chain(self.call.env.values()).any(|word| word.contains(STALLED_PLACEHOLDER))
    }

    /// Returns whether stdout contains data if the exit code is as expected: the code is 0 or declared as a result. Any
    /// other expected exit code reports an error. All checks of data use this function.
    pub fn prints_data(&self) -> bool {
        self.exit == Some(0) || self.call.result
    }

    /// Returns whether the first argument is not a flag, so that it may be a subcommand.
    pub fn begins_with_word(&self) -> bool {
        let first = self.call.args.iter().find(|arg| *arg != FORMAT_PLACEHOLDER);
        first.is_some_and(|arg| !arg.starts_with('-'))
    }

    /// Returns whether the format flag of the probe is only assumed and has to be verified by a call. If the probe
    /// lists its formats and the list contains `json` or `jsonl`, the flag counts as declared.
    pub fn has_unverified_format_flag(&self, profile: &TargetProfile) -> bool {
        let listed = self.formats.len() < OutputFormat::ALL.len() && self.formats.iter().any(|f| f.is_json());
        profile.asks_first && self.call.format_flags.is_empty() && !listed
    }

    /// Returns whether runs of a declared probe omit the format flag, because the target may interpret it as something
    /// else.
    pub fn omits_format_flag(&self) -> bool {
        self.is_declared() && !self.asks_format
    }

    /// Returns whether an explored call prints text without a format flag, as most do. A call without a format flag is
    /// the same call then.
    pub fn is_text_default(&self, profile: &TargetProfile) -> bool {
        self.explored.is_some() && self.format_args(OutputFormat::Text, profile).is_empty()
    }

    /// Returns whether the probe is a derived call of this kind.
    pub fn is_kind(&self, kind: DerivedKind) -> bool {
        self.id.kind() == Some(kind)
    }

    /// Returns the name of the declared or explored probe that a derived call comes from; `None` for any other probe.
    pub fn source(&self) -> Option<&str> {
        self.id.from()
    }

    /// Returns the key of the run of this probe in `format` without a special condition.
    pub fn plain_run(&self, format: OutputFormat) -> RunKey {
        RunKey::plain_run_key(self.id.clone(), format)
    }

    /// Returns the arguments of a run in `format`, including the format flag if the run needs one.
    pub fn args_in(&self, format: OutputFormat, profile: &TargetProfile) -> Vec<String> {
        // In a call of the target itself, text needs no format flag, which the call may not accept.
        let needs_flag =
            self.asks_format && (self.is_source() || self.source().is_some() || format.is_json());
        let flag_args = if needs_flag { self.format_args(format, profile) } else { &[] };
        insert_format_flag(&self.call.args, flag_args)
    }

    /// Returns whether `--output FORMAT` selects `format` in this probe.
    pub fn has_output_flag(&self, format: OutputFormat, profile: &TargetProfile) -> bool {
        is_output_flag(self.format_args(format, profile), format)
    }

    /// Returns the arguments that select `format` in this probe; empty if there are none.
    pub fn format_args<'a>(&'a self, format: OutputFormat, profile: &'a TargetProfile) -> &'a [String] {
        match self.call.format_flags.get(&format) {
            Some(declared) => declared.args().unwrap_or_default(),
            None => profile.format_args(format),
        }
    }

    /// Returns the arguments that spell a common option in this probe, or else in its target.
    pub fn common_option<'a>(&'a self, flag: CommonOption, profile: &'a TargetProfile) -> &'a FormatFlag {
        self.call.flags.get(&flag).unwrap_or_else(|| profile.conventions.flags.get(flag))
    }
}
