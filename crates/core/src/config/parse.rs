//! Parses the configuration: the tables of the file, and the conditions that concern several tables.

use super::discover::table_keys;
use super::probe::ParsedProbe;
use super::section::Section;
use super::{
    Config, Feature, FormatFlag, PORT_PLACEHOLDER, ProbeConfig, STALLED_PLACEHOLDER, ServiceConfig,
    TargetConfig, ValidationContext, check, probe, service, target, waiver,
};
use crate::model::OutputFormat;
use agentnative_contract::error::{Error, Result};
use agentnative_contract::spanned_toml::{Table, name_hint, parse_file, parse_table};
use std::collections::HashMap;
use std::path::Path;

impl Config {
    /// Parses `text`, the contents of the file at `path`, as a configuration. In a manifest, only the table of the
    /// configuration is parsed. Also reads the files that the configuration names.
    ///
    /// # Errors
    /// Of kind `Config` if the configuration is invalid, with an issue with line and column for each error, or if the
    /// manifest contains no configuration.
    pub fn parse(text: &str, path: &Path, known: &ValidationContext<'_>) -> Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or_else(|| Path::new("."));
        // Without a working directory, the path stays relative.
        let root = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let parse_settings = |table: Table<'_>| {
            let mut file = Section::new(table, "");
            let targets = target::parse_all(&file, &root, known);
            let services = services(service::parse_all(&mut file), &targets);
            let probes = probes(probe::parse_all(&mut file, &root, known), &targets, &services);
            let waivers = waiver::parse_all(&mut file, &probes, known);
            let check = check::parse(&file, known);
            let digest = String::new();
            Self {
                path: path.to_owned(),
                digest,
                root: root.clone(),
                targets,
                probes,
                services,
                waivers,
                check,
            }
        };
        let Some(keys) = table_keys(path) else { return parse_file(text, path, parse_settings) };
        parse_table(text, path, keys, parse_settings)?.ok_or_else(|| {
            Error::config(format!(
                "{} contains no configuration; expected the table {}",
                path.display(),
                keys.join(".")
            ))
        })
    }
}

/// Completes each service with the name of its target, and reports unknown targets.
fn services(parsed: Vec<(ServiceConfig, Section<'_>)>, targets: &[TargetConfig]) -> Vec<ServiceConfig> {
    let with_target = |(mut service, section): (ServiceConfig, Section<'_>)| {
        resolve_target(&mut service.target, "[[service]]", &section, targets);
        service
    };
    parsed.into_iter().map(with_target).collect()
}

/// Completes each probe with the name of its target. Reports unknown targets, duplicate names, and conflicts between a
/// probe and its target.
fn probes(
    parsed: Vec<ParsedProbe<'_>>,
    targets: &[TargetConfig],
    services: &[ServiceConfig],
) -> Vec<ProbeConfig> {
    let mut names: HashMap<String, usize> = HashMap::new();
    let mut probes = Vec::new();
    for mut parsed in parsed {
        if let Some(value) = parsed.section.get("name") {
            let name = &parsed.probe.name;
            let first = *names.entry(name.clone()).or_insert(value.span.start);
            if first != value.span.start {
                let line = value.diagnostics.line_at(first);
                value.report::<()>(&format!(
                    "duplicate probe `{name}`; expected a unique name (the first is in line {line})"
                ));
            }
        }
        if let Some(target) = resolve_target(&mut parsed.probe.target, "[[probe]]", &parsed.section, targets)
        {
            check_against_target(&parsed, target, services);
        }
        probes.push(parsed.probe);
    }
    probes
}

/// Reports keys of a probe that conflict with the settings of its target.
fn check_against_target(parsed: &ParsedProbe<'_>, target: &TargetConfig, services: &[ServiceConfig]) {
    let (call, faults) = (&parsed.probe.call, parsed.section.diagnostics);
    let service_count = services.iter().filter(|service| service.target == target.name).count();
    let has =
        |placeholder: &str| call.args.iter().chain(call.env.values()).any(|word| word.contains(placeholder));
    if service_count > 1 && has(PORT_PLACEHOLDER) {
        faults.add(&parsed.section.span, format!("the probe uses {PORT_PLACEHOLDER}, but {service_count} services run with it; expected the port in the `env` of the service"));
    }
    if let (Some(name), Some(value)) = (&target.contract, Table::get(&parsed.section, "contract")) {
        value.report::<()>(&format!(
            "duplicate contract: the target already has `{name}`; expected `contract` in the target or in the probe"
        ));
    }
    for (feature, is_used, what) in [
        (Feature::Login, call.login, "has `login = true`"),
        (Feature::Changes, parsed.probe.effect.is_some(), "changes something"),
        (Feature::LongRunning, call.interrupt.is_some(), "has `interrupt`"),
        (Feature::Network, has(STALLED_PLACEHOLDER), "sends a request to {stalled}"),
        (Feature::Secret, call.secret, "has `secret = true`"),
        (Feature::Lists, call.list.is_some(), "prints a list"),
    ] {
        if is_used && target.conventions.lacks.contains(&feature) {
            let span = if feature == Feature::Lists { parsed.section.span_of("list") } else { None };
            faults.add(
                &span.unwrap_or_else(|| parsed.section.span.clone()),
                format!(
                    "the target has `lacks = [\"{}\"]`, but this probe {what}; expected only one of the two",
                    feature.name()
                ),
            );
        }
    }
    check_formats(parsed, target);
    check_list(parsed, target);
    check_secret(parsed, target);
    let (exit, codes) = (parsed.probe.exit, &target.conventions.exit_codes);
    if let (false, Some(span)) = (codes.contains(&exit), &parsed.exit) {
        let all: Vec<String> = codes.iter().map(ToString::to_string).collect();
        let all = all.join(", ");
        faults.add(span, format!("exit code {exit} is not in `exit_codes` of the target ({all}); expected one of them, or {exit} in `exit_codes`"));
    }
}

/// Reports a probe with `secret = true` if the target declares no variable for the secret, or if the variable has no
/// value.
fn check_secret(parsed: &ParsedProbe<'_>, target: &TargetConfig) {
    if !parsed.probe.call.secret {
        return;
    }
    let (faults, span) = (parsed.section.diagnostics, &parsed.section.span);
    let Some(config) = &target.conventions.secret else {
        return faults.add(span, "the probe has `secret = true`, but the target has no `secret`; expected `secret.env` in the table of the target");
    };
    let name = &config.env;
    let has_value = parsed.probe.call.env.contains_key(name)
        || target.env.contains_key(name)
        || target.pass_env.contains(name);
    if !has_value {
        faults.add(span, format!("the probe has `secret = true`, but {name} is not set; expected it in `env` of the probe or the target, or in `pass_env`"));
    }
}

/// Reports the key `list` of a probe that is expected to fail, or that does not run in `json`.
fn check_list(parsed: &ParsedProbe<'_>, target: &TargetConfig) {
    let Some(value) = Table::get(&parsed.section, "list") else { return };
    let exit = parsed.probe.exit;
    if exit != 0 && parsed.exit.is_some() {
        value.report::<()>(&format!("`list` requires exit code 0, but the probe has `exit = {exit}`; expected a call that exits with 0"));
    }
    if !parsed.probe.formats_for(target).any(|format| format == OutputFormat::Json) {
        value.report::<()>("`list` requires the format `json`, but the probe does not run in it; expected \"json\" in `formats`");
    }
}

/// Reports the key `formats` of a probe if its target does not have one of the formats.
fn check_formats(parsed: &ParsedProbe<'_>, target: &TargetConfig) {
    let format_flags = &parsed.probe.call.format_flags;
    let is_lacking = |format: &OutputFormat| {
        !format_flags.contains_key(format) && target.conventions.formats.get(*format) == &FormatFlag::Absent
    };
    let Some(value) = Table::get(&parsed.section, "formats") else { return };
    let formats = &parsed.probe.formats;
    let lacking: Vec<&str> =
        formats.iter().filter(|format| is_lacking(format)).map(|format| format.name()).collect();
    // The formats that a table does not name have the format flags of the target.
    if !lacking.is_empty() && (format_flags.is_empty() || lacking.len() == formats.len()) {
        let all = lacking.join(", ");
        value.report::<()>(&format!(
            "`formats` contains {all}, which the target does not have; expected formats of the target"
        ));
    }
}

/// Returns the target that a probe or service belongs to; reports an unknown target. `name` is the value of the key
/// `target`. If the key is missing and the file has one target, `name` is set to its name. `title` is the header of the
/// table, such as `[[probe]]`.
fn resolve_target<'t>(
    name: &mut Option<String>,
    title: &str,
    section: &Section<'_>,
    targets: &'t [TargetConfig],
) -> Option<&'t TargetConfig> {
    let value = Table::get(section, "target");
    if value.is_some() && name.is_none() {
        return None;
    }
    if let (None, [only]) = (&name, targets) {
        name.clone_from(&only.name);
    }
    let found = targets.iter().find(|target| target.name == *name);
    if found.is_some() {
        return found;
    }
    let names = targets.iter().filter_map(|target| target.name.as_deref());
    match (name, value) {
        (Some(name), Some(value)) if names.clone().next().is_none() => value.report(&format!("unknown target `{name}`; the file's only target has no name: omit `target`, or rename its table to [target.{name}]")),
        (Some(name), Some(value)) => value.report(&format!("unknown target `{name}`; {}", name_hint(name, names))),
        _ => {
            let all: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
            let all = all.join(" or ");
            section.diagnostics.add(
                &section.span,
                format!("{title} has no `target`, but the file declares several targets; expected target = {all}"),
            );
            None
        }
    }
}
