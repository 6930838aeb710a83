//! Selects the contract of the whole target: the one that the user names, or the bundled one of a known program, in
//! the version that matches the output of `--version`.

use super::help_pages::help_text;
use super::run_environment::Services;
use super::runs::Runs;
use super::session::{Session, root_of};
use agentnative_contract::error::{Error, Result};
use agentnative_contract::{Contract, find_version, split_version};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::{Config, TargetConfig};
use agentnative_core::model::OutputFormat;
use agentnative_core::probe::{TargetProfile, target_calls};
use agentnative_core::run::Runner;
use agentnative_core::targets::{Target, TargetSelector};
use std::path::PathBuf;
use std::time::Duration;

/// The contract that was selected for the whole target.
#[derive(Debug, Clone)]
pub(super) struct ChosenContract {
    /// Name of the contract, with `@VERSION` if a version was selected.
    pub name: String,
    /// Folder that `name` is relative to, if it is a path.
    pub root: PathBuf,
    /// Whether the contract does not come from the configuration, so that its settings still have to be applied to the
    /// target.
    pub is_new: bool,
    /// Note of the report on the selection.
    pub note: Option<String>,
}

impl Session {
    /// Returns the contract that applies to all output of the target; `None` for the default rules.
    ///
    /// # Errors
    /// A configuration error if no contract matches `auto`; the errors of loading a contract.
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
                    let error = Error::config(format!("no bundled contract describes the program {name}"));
                    error.hint("name one; `agentnative contract list` lists them")
                });
            }
            (Some(name), _) => (name.to_owned(), here, true),
            (None, Some(name)) => (name.clone(), root_of(config).to_owned(), false),
            // The contract of an agent is about a single call, not about all its commands.
            (None, None) if self.options.explore.is_some() => return Ok(None),
            (None, None) if config.is_none() && matches!(self.target, TargetSelector::Name(_)) => {
                return self.contract_of_program(target, config, runner);
            }
            (None, None) => return Ok(None),
        };
        let root = std::path::absolute(&root).unwrap_or(root);
        let contract = Contract::by_name(&root, &name)?;
        let chosen = |name, note| Ok(Some(ChosenContract { name, root, is_new, note }));
        if split_version(&name).1.is_some() || contract.versions().len() < 2 {
            return chosen(name, None);
        }
        let printed = printed_version(target, config, runner)?;
        if !is_output_of_program(&contract, &printed) {
            // Another program that implements the contract has its own version numbers.
            return chosen(name, None);
        }
        let (version, note) = version_for(&contract, &printed);
        chosen(version.map_or(name.clone(), |version| format!("{name}@{version}")), note)
    }

    /// Returns the bundled contract of a known program, if the file name of the target and its `--version` output
    /// match. Also applies the time limit and the environment variables of that contract to the target.
    fn contract_of_program(
        &self,
        target: &mut Target,
        config: Option<&Config>,
        runner: &mut Runner,
    ) -> Result<Option<ChosenContract>> {
        let name = target.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(contract) = Contract::for_program(&name) else { return Ok(None) };
        let Some(program) = contract.program() else { return Ok(None) };
        let printed = printed_version(target, config, runner)?;
        let fits = contract.version_for(&printed).is_some_and(|choice| choice.fits);
        if !is_output_of_program(&contract, &printed) || !fits {
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
            "the contract {name} applies, since `--version` prints {line:?}; --contract none disables it"
        );
        Ok(Some(ChosenContract { name, root: PathBuf::from("."), is_new: true, note: Some(note) }))
    }
}

/// Returns whether `printed`, the output of `--version`, contains the text by which the contract identifies its
/// program. True if the contract has no such text.
fn is_output_of_program(contract: &Contract, printed: &str) -> bool {
    let expected = contract.program().and_then(|program| program.prints.as_ref());
    expected.is_none_or(|text| printed.contains(text))
}

/// Returns the version of the contract that matches `printed`, the output of `--version`, and a note for the report.
/// The version is `None` if the contract's default version applies.
fn version_for(contract: &Contract, printed: &str) -> (Option<String>, Option<String>) {
    let Some(choice) = contract.version_for(printed) else {
        let note = "`--version` prints no version number: the newest version of the contract applies";
        return (None, Some(note.to_owned()));
    };
    let version = &choice.version.version;
    let found = find_version(printed).map(|found| found.to_string()).unwrap_or_default();
    let note = (!choice.fits).then(|| {
        format!(
            "the contract {} has no version for {found}: the nearest, {version}, applies",
            contract.name()
        )
    });
    let own = contract.summary().version == *version;
    let name = (!own).then(|| version.clone());
    let applies =
        name.as_ref().map(|_| format!("the contract {}@{version} applies to {found}", contract.name()));
    (name, note.or(applies))
}

/// Calls the target with `--version` and returns its output; empty if the call cannot be made.
fn printed_version(target: &Target, config: Option<&Config>, runner: &mut Runner) -> Result<String> {
    let environment = Services::with_chosen_ports(target, config)?.surroundings(target, runner)?;
    let profile = TargetProfile::from_config(&target.config);
    let Some(probe) = target_calls(DerivedKind::Version, &profile, target.config.timeout) else {
        return Ok(String::new());
    };
    let mut runs = Runs::new(runner, target, environment);
    let seen = runs.make_runs(&[probe.plain_run(OutputFormat::Text)], &[probe], &profile, &mut |_| {})?;
    Ok(seen.first().map(|seen| String::from_utf8_lossy(&help_text(seen)).into_owned()).unwrap_or_default())
}
