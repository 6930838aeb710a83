//! What a shell offers while a command line is typed: it asks this program, through the script of `completions`.

use crate::catalogue;
use crate::check::{Session, SessionOptions, TargetSelector};
use crate::config::{Config, ProbeConfig};
use crate::output::RENDERERS;
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, PathCompleter, ValueCompleter};
use clap_complete::{CompleteEnv, CompletionCandidate};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The variable by which the scripts ask.
pub(super) const VARIABLE: &str = "AGENTNATIVE_COMPLETE";

/// Answers a shell, if it is one that asks. What cannot be answered is no completion.
pub(super) fn answered(args: &[OsString]) -> bool {
    let folder = std::env::current_dir().ok();
    let environment = CompleteEnv::with_factory(super::command).var(VARIABLE);
    environment.try_complete(args, folder.as_deref()).unwrap_or(false)
}

/// Numbers of principles.
pub(super) fn principles() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let numbers: BTreeSet<u8> = catalogue::checks().iter().map(|check| check.principle).collect();
        numbers.into_iter().map(|number| CompletionCandidate::new(number.to_string())).collect()
    })
}

/// Names of bundled contracts, and paths.
pub(super) fn contracts() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let names = agentnative_contract::names().filter(|name| starts(name, typed));
        names.map(CompletionCandidate::new).chain(PathCompleter::any().complete(typed)).collect::<Vec<_>>()
    })
}

/// `FORMAT=FILE` of a report.
pub(super) fn reports() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let text = typed.to_string_lossy();
        match text.split_once('=') {
            Some((format, path)) => {
                let paths = PathCompleter::any().stdio().complete(OsStr::new(path)).into_iter();
                paths.map(|path| path.add_prefix(format!("{format}="))).collect()
            }
            None => {
                let formats = RENDERERS.iter().map(|renderer| format!("{}=", renderer.name));
                formats
                    .filter(|format| starts(format, typed))
                    .map(CompletionCandidate::new)
                    .collect::<Vec<_>>()
            }
        }
    })
}

/// Targets of the configuration at hand.
pub(super) fn targets() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let config = config();
        let targets = config.iter().flat_map(|config| &config.targets);
        targets.filter_map(|target| target.name.as_deref()).map(CompletionCandidate::new).collect()
    })
}

/// Probes of the configuration at hand, as `--probe` takes them: one to begin a new one with.
pub(super) fn probes() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        // Only the script for bash sets this variable; the other shells quote what they insert.
        let quoted = std::env::var_os("_CLAP_COMPLETE_COMP_TYPE").is_some();
        let written = |probe: &ProbeConfig| {
            let words = shlex::try_join(probe.args.iter().map(String::as_str)).ok()?;
            let text = if probe.exit == 0 { words } else { format!("{}:{words}", probe.exit) };
            let text = if quoted { shlex::try_quote(&text).ok()?.into_owned() } else { text };
            Some(CompletionCandidate::new(text).help(Some(probe.name.clone().into())))
        };
        config().iter().flat_map(|config| &config.probes).filter_map(written).collect()
    })
}

/// Whether a name begins with what was typed.
fn starts(name: &str, typed: &OsStr) -> bool {
    name.starts_with(typed.to_string_lossy().as_ref())
}

/// The configuration of the current folder, if it is valid.
fn config() -> Option<Config> {
    Session::new(TargetSelector::Path(PathBuf::from(".")), SessionOptions::default()).config().ok().flatten()
}
