//! A probe: one way to call the target.

use super::args::placed_last;
use super::profile::{TargetProfile, is_output};
use crate::catalogue::Derived;
use crate::config::{
    Asking, CallConfig, FORMAT_PLACE, Flag, ProbeConfig, STALLED_PLACE, TargetConfig, place_format,
};
use crate::model::{OutputFormat, ProbeId};
use crate::run::RunKey;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// One way to call the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Its identity.
    pub id: ProbeId,
    /// Its name in reports, unique among all probes of the target.
    pub name: String,
    /// The call.
    #[serde(flatten)]
    pub call: CallConfig,
    /// Whether the arguments that ask for a format are still to be added.
    pub asks_format: bool,
    /// The exit code that it is expected to end with, where one is expected.
    pub exit: Option<i32>,
    /// The formats that it is run in.
    pub formats: Vec<OutputFormat>,
    /// The place in the arguments that was found for those of a format, where it was looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// What it changes; none where it changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// When a run is ended by force.
    pub timeout: Duration,
    /// Its runs write to the folder that they start in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub writes: bool,
}

/// What a call changes, as far as it is declared. Each of its runs is confined and starts in a copy of its workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// The arguments without the confirmation, where it has to be confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unconfirmed: Option<Vec<String>>,
    /// A second call right after it is to change nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub idempotent: bool,
    /// It is declared that a second call changes more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_idempotent: bool,
    /// The formats that the call has. Those of the probe are empty unless its configuration names them.
    pub formats: Vec<OutputFormat>,
    /// The exit code of its dry run.
    pub dry_run_exit: Option<i32>,
}

/// Where the arguments of a format go, if not after all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Before all others.
    Front,
    /// After the first word that is no flag.
    BehindFirst,
}

impl Place {
    /// The place for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Front => "before the subcommand",
            Self::BehindFirst => "after the first word",
        }
    }
}

impl Probe {
    /// The probe that a configuration or the command line declares.
    pub fn declared(config: &ProbeConfig, target: &TargetConfig) -> Self {
        let formats: Vec<OutputFormat> = config.formats_of(target).collect();
        let own = config.call.flags.get(&Flag::Confirm);
        let confirm = own.unwrap_or_else(|| target.conventions.flags.of(Flag::Confirm));
        let mut call = config.call.clone();
        if config.effect.is_some_and(|effect| effect.destructive) {
            call.args = placed_last(&call.args, confirm.args().unwrap_or_default());
        }
        let effect = config.effect.map(|effect| Effect {
            unconfirmed: effect.destructive.then(|| config.call.args.clone()),
            idempotent: effect.idempotent == Some(true),
            not_idempotent: effect.idempotent == Some(false),
            formats: formats.clone(),
            dry_run_exit: config.dry_run_exit.or(target.dry_run_exit).or(Some(config.exit)),
        });
        // Each run of one that nobody answers would take all of its time.
        let words = || config.call.args.iter().chain(config.call.env.values());
        let runs_anyway = config.effect.is_none_or(|effect| effect.formats_declared)
            && !words().any(|word| word.contains(STALLED_PLACE));
        Self {
            id: ProbeId::declared(&config.name),
            name: config.name.clone(),
            call,
            asks_format: true,
            exit: Some(config.exit),
            formats: if runs_anyway { formats } else { Vec::new() },
            place: None,
            effect,
            timeout: config.timeout.unwrap_or(target.timeout),
            writes: config.writes || target.writes,
        }
    }

    /// The same with other arguments.
    #[must_use]
    pub fn with_args(mut self, args: Vec<String>) -> Self {
        self.call.args = args;
        self
    }

    /// Whether the configuration or the command line declares it.
    pub fn is_declared(&self) -> bool {
        matches!(self.id, ProbeId::Declared(_))
    }

    /// The words in front, which may name a command: flags before them are left out.
    pub fn command_words(&self) -> impl Iterator<Item = &str> {
        let is_flag = |word: &&str| word.starts_with('-');
        let words = self.call.args.iter().map(String::as_str).filter(|word| *word != FORMAT_PLACE);
        words.skip_while(is_flag).take_while(move |word| !is_flag(word))
    }

    /// Whether it calls this command.
    pub fn calls(&self, command: &[String]) -> bool {
        self.command_words().take(command.len()).eq(command)
    }

    /// Whether it is run confined or not at all: it changes something, or may.
    pub fn is_confined(&self) -> bool {
        self.effect.is_some() || self.is(Derived::Example) || self.is(Derived::BundleInstall)
    }

    /// Whether it changes something, or waits for an answer that never comes, and is run only for checks that
    /// concern that.
    pub fn is_apart(&self) -> bool {
        self.is_declared() && self.formats.is_empty() && (self.effect.is_some() || self.is_stalled())
    }

    /// Whether how its runs end is the affair of one check: they are ended from outside or by a time limit, or are
    /// calls that nobody declared.
    pub fn is_cut_short(&self) -> bool {
        use Derived::{AnonymousRequest, Example, Interrupted, InvalidRequest, Sigint, Timeout};
        let own = [Interrupted, Sigint, Timeout, InvalidRequest, AnonymousRequest, Example];
        own.into_iter().any(|kind| self.is(kind))
    }

    /// Whether its runs get a secret: that of the target, or a non-empty one in its own `env`.
    pub fn has_secret(&self, profile: &TargetProfile) -> bool {
        let variable = profile.conventions.secret.as_ref().and_then(|secret| self.call.env.get(&secret.env));
        self.call.secret || variable.is_some_and(|value| !value.is_empty())
    }

    /// Whether it calls a server that never answers.
    pub fn is_stalled(&self) -> bool {
        self.call.args.iter().chain(self.call.env.values()).any(|word| word.contains(STALLED_PLACE))
    }

    /// Whether standard output is data when it ends as expected: it succeeds, or its code is an outcome. All
    /// that concerns data asks this; what is expected to end otherwise is an error.
    pub fn gives_data(&self) -> bool {
        self.exit == Some(0) || self.call.result
    }

    /// Whether its call begins with a word, which may be a subcommand.
    pub fn begins_with_word(&self) -> bool {
        let first = self.call.args.iter().find(|arg| *arg != FORMAT_PLACE);
        first.is_some_and(|arg| !arg.starts_with('-'))
    }

    /// Whether it is asked for formats with a flag that nobody calls one, and has to be asked whether it takes
    /// them. A list of formats with json or jsonl in it calls the flag one.
    pub fn is_open(&self, profile: &TargetProfile) -> bool {
        let listed = self.formats.len() < OutputFormat::ALL.len() && self.formats.iter().any(|f| f.is_json());
        profile.asks_first && self.call.asking.is_empty() && !listed
    }

    /// Whether it could not be asked for formats: what it would take their flag for is not known.
    pub fn is_unasked(&self) -> bool {
        self.is_declared() && !self.asks_format
    }

    /// Whether it is derived, and of this kind.
    pub fn is(&self, kind: Derived) -> bool {
        self.id.kind() == Some(kind)
    }

    /// The declared probe that it was made from.
    pub fn of(&self) -> Option<&str> {
        self.id.from()
    }

    /// Its plain run in `format`.
    pub fn plain(&self, format: OutputFormat) -> RunKey {
        RunKey::plain(self.id.clone(), format)
    }

    /// The arguments of a run in `format`.
    pub fn args_in(&self, format: OutputFormat, profile: &TargetProfile) -> Vec<String> {
        // Text is what comes without a flag: it shows calls that know no format.
        let asked = self.asks_format && (self.is_declared() || self.of().is_some() || format.is_json());
        let asking = if asked { self.asking(format, profile) } else { &[] };
        place_format(&self.call.args, asking)
    }

    /// Whether this probe asks for a format with `--output FORMAT`.
    pub fn asks_with_output(&self, format: OutputFormat, profile: &TargetProfile) -> bool {
        is_output(self.asking(format, profile), format)
    }

    /// The arguments that ask for `format` in a call of this probe.
    pub fn asking<'a>(&'a self, format: OutputFormat, profile: &'a TargetProfile) -> &'a [String] {
        match self.call.asking.get(&format) {
            Some(own) => own.args().unwrap_or_default(),
            None => profile.asking(format),
        }
    }

    /// How a common option is spelt in a call of this probe.
    pub fn flag<'a>(&'a self, flag: Flag, profile: &'a TargetProfile) -> &'a Asking {
        self.call.flags.get(&flag).unwrap_or_else(|| profile.conventions.flags.of(flag))
    }
}
