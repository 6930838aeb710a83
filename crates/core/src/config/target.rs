//! Parses the tables `[target]` and `[target.NAME]` of the configuration.

use super::path::{home, is_below};
use super::reference::{child_names, key};
use super::section::Section;
use super::{
    ConfigKey, Conventions, FormatFlag, FormatFlags, TargetConfig, ValidationContext, common_flags, contract,
    formats,
};
use crate::model::OutputFormat;
use agentnative_contract::Contract;
use agentnative_contract::spanned_toml::{Table, Value, name_hint, nearest};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// Returns the targets that the file declares. If it declares none, returns one target with the default settings.
pub(super) fn parse_all(file: &Section<'_>, root: &Path, known: &ValidationContext<'_>) -> Vec<TargetConfig> {
    let Some(value) = Table::get(file, "target") else { return vec![TargetConfig::default()] };
    let expected = "a table: [target], or one [target.NAME] per target";
    let Some(table) = value.table("[target]", expected) else { return vec![TargetConfig::default()] };
    // A key with the name of a setting is the setting; a table under any other key is a target.
    let settings = child_names("target");
    let is_setting = |name: &str| settings.contains(&name) && !is_meant_as_target(&table, name);
    let is_target = |name: &str| {
        let inner = table.get(name).and_then(|value| value.inner.as_table());
        // A table without settings whose name is similar to a setting is a misspelt setting: `format.json`.
        let is_misspelt = |inner: &DeTable<'_>| {
            nearest(name, settings.iter().copied()).is_some()
                && !inner.is_empty()
                && !inner.keys().any(|key| settings.contains(&&**key.get_ref()))
        };
        !is_setting(name) && inner.is_some_and(|inner| !is_misspelt(inner))
    };
    let names: Vec<&str> =
        table.entries.keys().map(|key| &**key.get_ref()).filter(|n| is_target(n)).collect();
    if names.is_empty() {
        return vec![parse(table, None, root, known)];
    }
    for key in table.entries.keys() {
        let name: &str = key.get_ref();
        if is_setting(name) {
            file.diagnostics.add(&key.span(), format!("`{name}` is a setting of [target], but the file also declares [target.{}]; expected either [target] or only named targets", names[0]));
        } else if settings.contains(&name) {
            file.diagnostics.add(&key.span(), format!("`{name}` is a setting of [target] and cannot be the name of a target; expected another name for [target.{name}]"));
        } else if !is_target(name) {
            let near = name_hint(name, settings.iter().copied());
            file.diagnostics.add(&key.span(), format!("unknown key `{name}` in [target]; {near}"));
        }
    }
    let mut targets: Vec<(usize, TargetConfig)> = names
        .into_iter()
        .filter_map(|name| {
            let table = table.get(name)?.table(&format!("[target.{name}]"), expected)?;
            if name.trim().is_empty() {
                table.diagnostics.add(&table.span, "the name of a target is empty; expected [target.NAME]");
            }
            let start = table.span.start;
            Some((start, parse(table, Some(name), root, known)))
        })
        .collect();
    targets.sort_by_key(|(offset, _)| *offset);
    targets.into_iter().map(|(_, target)| target).collect()
}

/// Returns whether a table `[target.NAME]` is meant as a target although a setting has the same name: the setting
/// accepts no table, or the table contains a command.
fn is_meant_as_target(table: &Table<'_>, name: &str) -> bool {
    let Some(DeValue::Table(inner)) = table.get(name).map(|value| value.inner) else { return false };
    let accepts_table = key(&format!("target.{name}")).is_some_and(ConfigKey::accepts_table);
    !accepts_table || inner.get("command").is_some_and(|command| command.get_ref().is_array())
}

fn parse(table: Table<'_>, name: Option<&str>, root: &Path, known: &ValidationContext<'_>) -> TargetConfig {
    let mut section = Section::new(table, "target");
    let contract = section.get("contract").and_then(|value| contract::for_target(&value, root, known));
    let base = contract
        .as_ref()
        .map_or_else(TargetConfig::default, |(name, contract)| defaults_of_contract(name, contract));
    section.take("contract");
    let declared = formats::take(&mut section).unwrap_or_default();
    let default_format = default_format(&section, &declared);
    let (exit_codes, exit_codes_declared) = exit_codes(&section, &base.conventions);
    let dry_run_exit = common_flags::take_dry_run_exit(&mut section);
    let home = home(&section, root).unwrap_or_default();
    if let Some(value) = section.get("output_modules") {
        check_output_modules(&value, root);
    }
    for key in ["home", "exit_codes"] {
        section.take(key);
    }
    if let Some(lacks) = section.take("lacks") {
        section.set("lacks_features", lacks);
    }
    let target = section.applied_to(base);
    let formats = match &target.contract {
        Some(_) => target.conventions.formats.clone().with_declared(declared),
        None => FormatFlags::from_declared(&declared, default_format),
    };
    let mut conventions =
        Conventions { formats, default_format, exit_codes, exit_codes_declared, ..target.conventions };
    conventions.lacks.dedup();
    let readable = target.readable.into_iter().map(expand_home).collect();
    TargetConfig { name: name.map(str::to_owned), conventions, dry_run_exit, home, readable, ..target }
}

/// Returns the settings of a target that has this contract, before its other keys are applied.
fn defaults_of_contract(name: &str, contract: &Contract) -> TargetConfig {
    let mut target = TargetConfig { contract: Some(name.to_owned()), ..TargetConfig::default() };
    target.apply_contract(contract);
    target
}

/// Returns the format that the target prints without a format flag: `default_format`, else the first format that the
/// target has. Reports a `default_format` that the target does not have.
fn default_format(section: &Section<'_>, declared: &BTreeMap<OutputFormat, FormatFlag>) -> OutputFormat {
    let lacks = |format: &OutputFormat| declared.get(format) == Some(&FormatFlag::Absent);
    let first = || OutputFormat::ALL.into_iter().find(|format| !lacks(format)).unwrap_or_default();
    let (Some(format), Some(value)) = (section.value("default_format"), section.get("default_format")) else {
        return first();
    };
    if lacks(&format) {
        let name = format.name();
        value.report::<()>(&format!(
            "`default_format` is {name:?}, but formats.{name} is `false`; expected a format of the target"
        ));
    }
    format
}

/// Returns the exit codes of the target, sorted, and whether codes other than the default ones are declared. Reports a
/// `usage` that is not one of the exit codes.
fn exit_codes(section: &Section<'_>, default: &Conventions) -> (Vec<i32>, bool) {
    let (default_usage, usage) = (default.usage, section.value("usage").unwrap_or(default.usage));
    let declared: Option<Vec<i32>> = section.value("exit_codes");
    let mut codes = match &declared {
        Some(codes) => codes.clone(),
        // After an error here, every exit code of a probe is accepted.
        None if section.has("exit_codes") => (0..=255).collect(),
        None => {
            default.exit_codes.iter().map(|code| if *code == default_usage { usage } else { *code }).collect()
        }
    };
    codes.sort_unstable();
    codes.dedup();
    if let (Some(codes), Some(value)) = (&declared, section.get("usage"))
        && !codes.contains(&usage)
    {
        value.report::<()>(&format!(
            "`usage` is {usage}, which is not in `exit_codes`; expected the same exit code in both"
        ));
    }
    let is_declared = section.has("exit_codes") && codes != default.exit_codes;
    (codes, is_declared || default.exit_codes_declared && !section.has("exit_codes"))
}

/// Reports the elements of `output_modules` that do not exist below `root`.
fn check_output_modules(value: &Value<'_>, root: &Path) {
    const EXPECTED: &str = "a source file or folder, relative to this file";
    for element in value.elements(EXPECTED).unwrap_or_default() {
        let name = element.inner.as_str().unwrap_or_default();
        if !is_below(name) {
            element
                .report::<()>(&format!("{name:?} is outside the folder of this file; expected {EXPECTED}"));
        } else if let Err(error) = root.join(name).metadata() {
            element.report::<()>(&format!("cannot read `{name}`: {error}; expected {EXPECTED}"));
        }
    }
}

/// Replaces a leading `~` by the home folder of the user. If the user has no home folder, removes the `~`: the
/// confinement then hides no home folder either.
fn expand_home(path: PathBuf) -> PathBuf {
    match path.strip_prefix("~") {
        Ok(rest) => std::env::home_dir().unwrap_or_default().join(rest),
        Err(_) => path,
    }
}
