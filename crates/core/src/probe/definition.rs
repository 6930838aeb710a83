//! A probe or derived call: one call of the target.

use super::args::insert_last;
use super::profile::{TargetProfile, is_output_flag};
use crate::catalogue::DerivedKind;
use crate::config::{
    CallConfig, CommonOption, FORMAT_PLACEHOLDER, FormatFlag, ProbeConfig, STALLED_PLACEHOLDER, TargetConfig,
    insert_format_flag,
};
use crate::model::{OutputFormat, ProbeId};
use crate::run::RunKey;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A call of the target: a declared probe or a derived call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// The identity.
    pub id: ProbeId,
    /// The name in reports, unique among all probes of the target.
    pub name: String,
    /// The call.
    #[serde(flatten)]
    pub call: CallConfig,
    /// Whether the arguments of a run still lack the format flag.
    pub asks_format: bool,
    /// The expected exit code, if any.
    pub exit: Option<i32>,
    /// The formats of the runs.
    pub formats: Vec<OutputFormat>,
    /// The flag position that the target accepts, if it was determined.
    #[serde(default, rename = "place", skip_serializing_if = "Option::is_none")]
    pub flag_position: Option<FlagPosition>,
    /// The effect of a call that changes something; `None` for any other call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Time limit after which a run is killed.
    pub timeout: Duration,
    /// Whether the runs write to the folder that they start in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub writes: bool,
}

/// The declared effect of a call that changes something. Each run of it is confined and starts in a copy of its
/// workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The arguments without the confirmation, if the call has to be confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unconfirmed: Option<Vec<String>>,
    /// Whether it is declared that a second call changes nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub idempotent: bool,
    /// Whether it is declared that a second call changes something again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_idempotent: bool,
    /// The formats of the call. Those of the probe are empty unless the configuration declares them.
    pub formats: Vec<OutputFormat>,
    /// The exit code of a dry run.
    pub dry_run_exit: Option<i32>,
}

/// A flag position other than after all arguments.
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
    /// Describes the position for reports.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Front => "before the subcommand",
            Self::AfterFirst => "after the first argument",
        }
    }
}

impl Probe {
    /// Returns the probe that the configuration or the command line declares.
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
        }
    }

    /// Returns the probe with other arguments.
    #[must_use]
    pub fn with_args(mut self, args: Vec<String>) -> Self {
        self.call.args = args;
        self
    }

    /// Returns whether the configuration or the command line declares the probe.
    pub fn is_declared(&self) -> bool {
        matches!(self.id, ProbeId::Declared(_))
    }

    /// Returns the first arguments that are not flags, which may name a command. Flags before them are skipped.
    pub fn command_words(&self) -> impl Iterator<Item = &str> {
        let is_flag = |word: &&str| word.starts_with('-');
        let words = self.call.args.iter().map(String::as_str).filter(|word| *word != FORMAT_PLACEHOLDER);
        words.skip_while(is_flag).take_while(move |word| !is_flag(word))
    }

    /// Returns whether the probe calls this command.
    pub fn calls(&self, command: &[String]) -> bool {
        self.command_words().take(command.len()).eq(command)
    }

    /// Returns whether a run requires confinement because it changes something, or may do so.
    pub fn is_confined(&self) -> bool {
        self.effect.is_some()
            || self.is_kind(DerivedKind::Example)
            || self.is_kind(DerivedKind::BundleInstall)
    }

    /// Returns whether the probe changes something or calls the stalled server, and runs only in the scenarios for that.
    pub fn runs_only_in_scenarios(&self) -> bool {
        self.is_declared() && self.formats.is_empty() && (self.effect.is_some() || self.is_stalled())
    }

    /// Returns whether only one check judges how the runs end: they are interrupted or time out, or nothing declares their
    /// call.
    pub fn has_special_end(&self) -> bool {
        use DerivedKind::{AnonymousRequest, Example, Interrupted, InvalidRequest, Sigint, Timeout};
        let kinds = [Interrupted, Sigint, Timeout, InvalidRequest, AnonymousRequest, Example];
        kinds.into_iter().any(|kind| self.is_kind(kind))
    }

    /// Returns whether the runs get a secret: that of the target, or a non-empty one in the `env` of the probe.
    pub fn has_secret(&self, profile: &TargetProfile) -> bool {
        let variable = profile.conventions.secret.as_ref().and_then(|secret| self.call.env.get(&secret.env));
        self.call.secret || variable.is_some_and(|value| !value.is_empty())
    }

    /// Returns whether the probe calls the stalled server, which never answers.
    pub fn is_stalled(&self) -> bool {
        self.call.args.iter().chain(self.call.env.values()).any(|word| word.contains(STALLED_PLACEHOLDER))
    }

    /// Returns whether stdout contains data if the exit code is as expected: the code is 0 or declared as a result. All
    /// checks on data use this; any other expected exit code reports an error.
    pub fn prints_data(&self) -> bool {
        self.exit == Some(0) || self.call.result
    }

    /// Returns whether the first argument is not a flag, so that it may be a subcommand.
    pub fn begins_with_word(&self) -> bool {
        let first = self.call.args.iter().find(|arg| *arg != FORMAT_PLACEHOLDER);
        first.is_some_and(|arg| !arg.starts_with('-'))
    }

    /// Returns whether the format flag of the probe is only assumed and has to be verified. A list of formats that contains
    /// `json` or `jsonl` declares that the flag exists.
    pub fn has_unverified_format_flag(&self, profile: &TargetProfile) -> bool {
        let listed = self.formats.len() < OutputFormat::ALL.len() && self.formats.iter().any(|f| f.is_json());
        profile.asks_first && self.call.format_flags.is_empty() && !listed
    }

    /// Returns whether the runs omit the format flag because the probe may interpret it as something else.
    pub fn omits_format_flag(&self) -> bool {
        self.is_declared() && !self.asks_format
    }

    /// Returns whether this is a derived call of this kind.
    pub fn is_kind(&self, kind: DerivedKind) -> bool {
        self.id.kind() == Some(kind)
    }

    /// Returns the name of the declared probe that a derived call comes from.
    pub fn source(&self) -> Option<&str> {
        self.id.from()
    }

    /// Returns the key of the plain run in `format`.
    pub fn plain_run(&self, format: OutputFormat) -> RunKey {
        RunKey::plain(self.id.clone(), format)
    }

    /// Returns the arguments of a run in `format`.
    pub fn args_in(&self, format: OutputFormat, profile: &TargetProfile) -> Vec<String> {
        // In a call of the target itself, text needs no format flag, which the call may not accept.
        let needs_flag =
            self.asks_format && (self.is_declared() || self.source().is_some() || format.is_json());
        let flag_args = if needs_flag { self.format_args(format, profile) } else { &[] };
        insert_format_flag(&self.call.args, flag_args)
    }

    /// Returns whether the format flag of this probe is `--output FORMAT`.
    pub fn has_output_flag(&self, format: OutputFormat, profile: &TargetProfile) -> bool {
        is_output_flag(self.format_args(format, profile), format)
    }

    /// Returns the arguments of the format flag of this probe; empty if there are none.
    pub fn format_args<'a>(&'a self, format: OutputFormat, profile: &'a TargetProfile) -> &'a [String] {
        match self.call.format_flags.get(&format) {
            Some(declared) => declared.args().unwrap_or_default(),
            None => profile.format_args(format),
        }
    }

    /// Returns the spelling of a common option for this probe.
    pub fn common_option<'a>(&'a self, flag: CommonOption, profile: &'a TargetProfile) -> &'a FormatFlag {
        self.call.flags.get(&flag).unwrap_or_else(|| profile.conventions.flags.get(flag))
    }
}
