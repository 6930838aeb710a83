//! The contract that all runs are held to: the one that is named, or that of a known program; in the version
//! that fits what the program's `--version` prints.

use super::help_pages::page_of;
use super::runs::Runs;
use super::session::{Session, root_of};
use super::surroundings::Services;
use agentnative_contract::error::{Error, Result};
use agentnative_contract::{Contract, find_version, split_version};
use agentnative_core::catalogue::Derived;
use agentnative_core::config::{Config, TargetConfig};
use agentnative_core::model::OutputFormat;
use agentnative_core::probe::{TargetProfile, standalone};
use agentnative_core::run::Runner;
use agentnative_core::targets::{Target, TargetSelector};
use std::path::PathBuf;
use std::time::Duration;

/// A contract that was chosen.
#[derive(Debug, Clone)]
pub(super) struct ChosenContract {
    /// Its name, with its version if that was chosen.
    pub name: String,
    /// What the name is relative to.
    pub root: PathBuf,
    /// Nothing in the configuration names it.
    pub is_new: bool,
    /// What the reader has to know of the choice.
    pub note: Option<String>,
}

impl Session {
    /// The contract for the whole target; none for the default rules.
    ///
    /// # Errors
    /// Configuration, when `auto` is asked for and no contract fits; those of loading a contract.
    pub(super) fn chosen_contract(
        &self,
        target: &mut Target,
        config: Option<&Config>,
        runner: &mut Runner,
    ) -> Result<Option<ChosenContract>> {
        let here = PathBuf::from(".");
        let (name, root, is_new) = match (self.options.contract.as_deref(), &target.config.contract) {
            (Some("none"), _) => return Ok(None),
            (Some("auto"), _) => {
                let found = self.contract_of_program(target, config, runner)?;
                let name = target.name.clone();
                return found.map(Some).ok_or_else(|| {
                    let error = Error::config(format!("no bundled contract fits the program {name}"));
                    error.hint("name one; `agentnative contract list` lists them")
                });
            }
            (Some(name), _) => (name.to_owned(), here, true),
            (None, Some(name)) => (name.clone(), root_of(config).to_owned(), false),
            (None, None) if config.is_none() && matches!(self.target, TargetSelector::Name(_)) => {
                return self.contract_of_program(target, config, runner);
            }
            (None, None) => return Ok(None),
        };
        let root = std::path::absolute(&root).unwrap_or(root);
        let contract = Contract::named(&root, &name)?;
        let chosen = |name, note| Ok(Some(ChosenContract { name, root, is_new, note }));
        if split_version(&name).1.is_some() || contract.versions().len() < 2 {
            return chosen(name, None);
        }
        let printed = printed_version(target, config, runner)?;
        if !is_program_of(&contract, &printed) {
            // It speaks the contract under versions of its own.
            return chosen(name, None);
        }
        let (version, note) = version_for(&contract, &printed);
        chosen(version.map_or(name.clone(), |version| format!("{name}@{version}")), note)
    }

    /// The bundled contract of a known program: its name fits, and what its `--version` prints.
    fn contract_of_program(
        &self,
        target: &mut Target,
        config: Option<&Config>,
        runner: &mut Runner,
    ) -> Result<Option<ChosenContract>> {
        let name = target.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(contract) = Contract::of_program(&name) else { return Ok(None) };
        let Some(program) = contract.program() else { return Ok(None) };
        let printed = printed_version(target, config, runner)?;
        let fits = contract.version_for(&printed).is_some_and(|choice| choice.fits);
        if !is_program_of(&contract, &printed) || !fits {
            return Ok(None);
        }
        if target.config.timeout == TargetConfig::default().timeout && self.options.timeout.is_none() {
            target.config.timeout = program.timeout.map_or(target.config.timeout, Duration::from_secs);
        }
        for (variable, value) in &program.env {
            target.config.env.entry(variable.clone()).or_insert_with(|| value.clone());
        }
        let (version, _) = version_for(&contract, &printed);
        let name =
            version.map_or(contract.name().to_owned(), |version| format!("{}@{version}", contract.name()));
        let line = printed.trim().lines().next().unwrap_or_default().to_owned();
        let note = format!(
            "the contract {name} applies, since `--version` prints {line:?}; --contract none undoes it"
        );
        Ok(Some(ChosenContract { name, root: PathBuf::from("."), is_new: true, note: Some(note) }))
    }
}

/// Whether what a program prints for `--version` is what the program of the contract prints.
fn is_program_of(contract: &Contract, printed: &str) -> bool {
    let expected = contract.program().and_then(|program| program.prints.as_ref());
    expected.is_none_or(|text| printed.contains(text))
}

/// The version of a contract for a program, unless it is the contract's own, and what the reader has to know.
fn version_for(contract: &Contract, printed: &str) -> (Option<String>, Option<String>) {
    let Some(choice) = contract.version_for(printed) else {
        let note = "`--version` prints no version number: the newest form of the contract applies";
        return (None, Some(note.to_owned()));
    };
    let version = &choice.version.version;
    let found = find_version(printed).map(|found| found.to_string()).unwrap_or_default();
    let note = (!choice.fits).then(|| {
        format!("the contract {} has no form for {found}: the nearest, {version}, applies", contract.name())
    });
    let own = contract.summary().version == *version;
    let name = (!own).then(|| version.clone());
    let applies =
        name.as_ref().map(|_| format!("the contract {}@{version} applies to {found}", contract.name()));
    (name, note.or(applies))
}

/// What the program prints when it is asked for its version.
fn printed_version(target: &Target, config: Option<&Config>, runner: &mut Runner) -> Result<String> {
    let around = Services::of(target, config)?.surroundings(target, runner)?;
    let profile = TargetProfile::of(&target.config);
    let Some(probe) = standalone(Derived::Version, &profile, target.config.timeout) else {
        return Ok(String::new());
    };
    let mut runs = Runs::new(runner, target, around);
    let seen = runs.make(&[probe.plain(OutputFormat::Text)], &[probe], &profile, &mut |_| {})?;
    Ok(seen.first().map(|seen| String::from_utf8_lossy(&page_of(seen)).into_owned()).unwrap_or_default())
}
