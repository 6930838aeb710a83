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
    /// Why the contract may not describe the target: it was not checked with this version. Violations repeat it.
    pub caution: Option<String>,
}

/// The result of selecting the contract of a target.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// The contract; `None` for the default rules.
    pub contract: Option<ChosenContract>,
    /// Notes of the report on the selection.
    pub notes: Vec<String>,
}

/// Why no bundled contract describes a program.
struct Unfit {
    reason: String,
    /// True if a contract describes the program, but not its version.
    is_version: bool,
}

impl Session {
    /// Returns the contract that applies to all output of the target.
    ///
    /// # Errors
    /// A configuration error if no contract matches `auto`; the errors of loading a contract.
    pub(super) fn chosen_contract(
        &self,
        target: &mut Target,
        config: Option<&Config>,
        runner: &mut Runner,
    ) -> Result<Selection> {
        let here = PathBuf::from(".");
        let (name, root, is_new) = match (self.options.contract.as_deref(), &target.config.contract) {
            (Some("none"), _) => return Ok(Selection::default()),
            (Some("auto"), _) => {
                let found = self.contract_of_program(target, config, runner)?;
                return found.map_err(|unfit| {
                    Error::config(unfit.reason).hint("name one; `agentnative contract list` lists them")
                });
            }
            (Some(name), _) => (name.to_owned(), here, true),
            (None, Some(name)) => (name.clone(), root_of(config).to_owned(), false),
            // The contract of an agent is about a single call, not about all its commands.
            (None, None) if self.options.explore.is_some() => return Ok(Selection::default()),
            (None, None) if config.is_none() && matches!(self.target, TargetSelector::Name(_)) => {
                let found = self.contract_of_program(target, config, runner)?;
                return Ok(found.unwrap_or_else(|unfit| {
                    let notes = Some(unfit.reason).filter(|_| unfit.is_version).into_iter().collect();
                    Selection { contract: None, notes }
                }));
            }
            (None, None) => return Ok(Selection::default()),
        };
        let root = std::path::absolute(&root).unwrap_or(root);
        let contract = Contract::by_name(&root, &name)?;
        let chosen = |name, caution: Option<String>, notes| {
            Ok(Selection { contract: Some(ChosenContract { name, root, is_new, caution }), notes })
        };
        if split_version(&name).1.is_some() || contract.versions().is_empty() {
            return chosen(name, None, Vec::new());
        }
        let printed = printed_version(target, config, runner)?;
        let program = program_name(target);
        if !is_output_of_program(&contract, &program, &printed) {
            // Another program that implements the contract has its own version numbers.
            return chosen(name, None, Vec::new());
        }
        let (version, caution) = version_for(&contract, &program, &printed);
        let versioned = version.as_ref().map(|version| format!("{name}@{version}"));
        let found = find_version(&printed).map(|found| found.to_string()).unwrap_or_default();
        let applies = versioned.as_ref().map(|name| format!("the contract {name} applies to {found}"));
        let notes = caution.clone().or(applies).into_iter().collect();
        chosen(versioned.unwrap_or(name), caution, notes)
    }

    /// Returns the bundled contract of a known program, if the file name of the target and its `--version` output
    /// match; otherwise, why there is none. Also applies the time limit and the environment variables of that
    /// contract to the target.
    fn contract_of_program(
        &self,
        target: &mut Target,
        config: Option<&Config>,
        runner: &mut Runner,
    ) -> Result<Result<Selection, Unfit>> {
        let without = |reason: String, is_version: bool| Ok(Err(Unfit { reason, is_version }));
        let name = program_name(target);
        let known = Contract::for_program(&name);
        let Some((contract, program)) = known.as_ref().and_then(|known| Some((known, known.program()?)))
        else {
            return without(format!("no bundled contract describes the program {}", target.name), false);
        };
        let printed = printed_version(target, config, runner)?;
        let line = printed.trim().lines().next().unwrap_or_default().to_owned();
        let is_program = is_output_of_program(contract, &name, &printed);
        let choice = contract.version_for(&name, &printed).filter(|_| is_program);
        if !choice.is_some_and(|choice| choice.fits) {
            let prints = program.prints.as_ref().map(|prints| format!(" (`{prints}`)"));
            let reason = format!(
                "no contract applies: {} is for {name}{} {}; `--version` prints {line:?}",
                contract.name(),
                prints.unwrap_or_default(),
                contract.ranges(&name).join(" or "),
            );
            return without(reason, choice.is_some());
        }
        if target.config.timeout == TargetConfig::default().timeout && self.options.timeout.is_none() {
            target.config.timeout = program.timeout.map_or(target.config.timeout, Duration::from_secs);
        }
        for (variable, value) in &program.env {
            target.config.env.entry(variable.clone()).or_insert_with(|| value.clone());
        }
        let (version, caution) = version_for(contract, &name, &printed);
        let name =
            version.map_or(contract.name().to_owned(), |version| format!("{}@{version}", contract.name()));
        let note = format!(
            "the contract {name} applies, since `--version` prints {line:?}; --contract none disables it"
        );
        let notes = std::iter::once(note).chain(caution.clone()).collect();
        let contract = ChosenContract { name, root: PathBuf::from("."), is_new: true, caution };
        Ok(Ok(Selection { contract: Some(contract), notes }))
    }
}

fn program_name(target: &Target) -> String {
    target.program.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns whether `printed`, the output of `--version` of a target with this name, is that of the program that the
/// contract describes. True if the contract names no program.
fn is_output_of_program(contract: &Contract, name: &str, printed: &str) -> bool {
    contract.program().is_none_or(|program| match &program.prints {
        Some(text) => printed.contains(text),
        None => program.name.iter().any(|known| known == name),
    })
}

/// Returns the version of the contract that matches `printed`, the output of `--version` of `program`, and why it may
/// not describe the program. The version is `None` if the contract's default version applies.
fn version_for(contract: &Contract, program: &str, printed: &str) -> (Option<String>, Option<String>) {
    let Some(choice) = contract.version_for(program, printed) else {
        let note = "`--version` prints no version number: the newest version of the contract applies";
        return (None, Some(note.to_owned()));
    };
    let version = &choice.version.version;
    let found = find_version(printed).map(|found| found.to_string()).unwrap_or_default();
    let caution = if !choice.fits {
        let (name, ranges) = (contract.name(), contract.ranges(program).join(" or "));
        Some(format!("the contract {name} is for {ranges}, not for {found}: the nearest, {version}, applies"))
    } else {
        choice.is_newer.then(|| format!("{found} is newer than {version}, the last version that was checked"))
    };
    (Some(version.clone()).filter(|version| contract.summary().version != *version), caution)
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
