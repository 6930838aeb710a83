//! Completion candidates: a shell requests them through the script of `completions`.

use crate::check::{Session, SessionOptions, TargetSelector};
use crate::output::RENDERERS;
use agentnative_contract::{Contract, split_version};
use agentnative_core::catalogue;
use agentnative_core::config::{self, Config, ConfigKey, ProbeConfig};
use clap_complete::CompletionCandidate;
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter, PathCompleter, ValueCompleter};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Environment variable that the completion scripts set.
pub(super) const VARIABLE: &str = "AGENTNATIVE_COMPLETE";

/// Completes numbers of principles.
pub(super) fn principles() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let numbers: BTreeSet<u8> = catalogue::checks().iter().map(|check| check.principle).collect();
        numbers.into_iter().map(|number| CompletionCandidate::new(number.to_string())).collect()
    })
}

/// Completes names of bundled contracts and paths; after an `@`, the versions of the contract.
pub(super) fn contracts() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let versions = typed.to_str().and_then(versions_of).unwrap_or_default();
        let names = agentnative_contract::bundled_names().map(str::to_owned).chain(versions);
        let names = names.filter(|name| has_prefix(name, typed)).map(CompletionCandidate::new);
        names.chain(PathCompleter::any().complete(typed)).collect::<Vec<_>>()
    })
}

/// Returns `NAME@VERSION` for each version of a contract, if its name and an `@` were typed.
fn versions_of(typed: &str) -> Option<Vec<String>> {
    let (name, Some(_)) = split_version(typed) else { return None };
    let contract = Contract::by_name(Path::new(""), name).ok()?;
    Some(contract.versions().iter().map(|version| format!("{name}@{}", version.version)).collect())
}

/// Completes keys of the configuration by path, such as `target.timeout`; if no path matches, by name, such as
/// `timeout`.
pub(super) fn keys() -> ArgValueCompleter {
    ArgValueCompleter::new(|typed: &OsStr| {
        let of = |text: fn(&ConfigKey) -> &str| {
            let keys = config::keys().iter().map(move |key| (text(key), key));
            let keys = keys.filter(|(text, _)| has_prefix(text, typed));
            let offered: BTreeMap<&str, &ConfigKey> = keys.collect();
            let help = |key: &ConfigKey| Some(key.first_sentence().to_owned().into());
            offered
                .into_iter()
                .map(|(text, key)| CompletionCandidate::new(text).help(help(key)))
                .collect::<Vec<_>>()
        };
        let paths = of(|key| &key.path);
        if paths.is_empty() { of(ConfigKey::name) } else { paths }
    })
}

/// Completes `FORMAT=FILE`, the value of `--report`.
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
                    .filter(|format| has_prefix(format, typed))
                    .map(CompletionCandidate::new)
                    .collect::<Vec<_>>()
            }
        }
    })
}

/// Completes names of targets in the configuration of the current folder.
pub(super) fn targets() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let config = current_config();
        let targets = config.iter().flat_map(|config| &config.targets);
        targets.filter_map(|target| target.name.as_deref()).map(CompletionCandidate::new).collect()
    })
}

/// Completes probes in the configuration of the current folder, in the syntax of `--probe`, as a start for a new one.
pub(super) fn probes() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        // Only the script for bash sets this variable; the other shells quote what they insert.
        let quotes = std::env::var_os("_CLAP_COMPLETE_COMP_TYPE").is_some();
        let candidate = |probe: &ProbeConfig| {
            let words = shlex::try_join(probe.call.args.iter().map(String::as_str)).ok()?;
            let text = if probe.exit == 0 { words } else { format!("{}:{words}", probe.exit) };
            let text = if quotes { shlex::try_quote(&text).ok()?.into_owned() } else { text };
            Some(CompletionCandidate::new(text).help(Some(probe.name.clone().into())))
        };
        current_config().iter().flat_map(|config| &config.probes).filter_map(candidate).collect()
    })
}

fn has_prefix(name: &str, typed: &OsStr) -> bool {
    name.starts_with(typed.to_string_lossy().as_ref())
}

/// Returns the configuration that applies in the current folder; `None` if there is none or it is invalid.
fn current_config() -> Option<Config> {
    Session::new(TargetSelector::Path(PathBuf::from(".")), SessionOptions::default()).config().ok().flatten()
}
