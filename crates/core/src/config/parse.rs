//! Reading the file: its elements, and whether they fit each other.

use super::discover::part_of;
use super::section::Section;
use super::{
    Asking, Config, Feature, Known, PORT_PLACE, ProbeConfig, STALLED_PLACE, ServiceConfig, TargetConfig,
    check, probe, service, target, waiver,
};
use crate::model::OutputFormat;
use agentnative_contract::error::{Error, Result};
use agentnative_contract::spanned_toml::{Table, parse_file, parse_part, suggestion};
use std::collections::HashMap;
use std::path::Path;

impl Config {
    /// Reads the text of the file at `path`, and the files that it names. In a manifest, its part for us.
    ///
    /// # Errors
    /// One of kind `Config` with an issue for everything that is wrong, each with line and column; or that the
    /// manifest has no such part.
    pub fn parse(text: &str, path: &Path, known: &Known<'_>) -> Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or_else(|| Path::new("."));
        // It fails on an empty path and without a working directory; then relative is all there is.
        let root = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let read = |table: Table<'_>| {
            let mut file = Section::new(table, "");
            let targets = target::read_all(&file, &root, known);
            let services = services(service::read_all(&mut file), &targets);
            let probes = probes(probe::read_all(&mut file, &root, known), &targets, &services);
            let waivers = waiver::read_all(&mut file, &probes, known);
            let check = check::read(&file, known);
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
        let Some(keys) = part_of(path) else { return parse_file(text, path, read) };
        parse_part(text, path, keys, read)?.ok_or_else(|| {
            Error::config(format!("{} has no configuration: no {} in it", path.display(), keys.join(".")))
        })
    }
}

/// Returns the services, each with its target; notes what does not fit.
fn services(read: Vec<(ServiceConfig, Section<'_>)>, targets: &[TargetConfig]) -> Vec<ServiceConfig> {
    let own = |(mut service, section): (ServiceConfig, Section<'_>)| {
        target_of(&mut service.target, "[[service]]", &section, targets);
        service
    };
    read.into_iter().map(own).collect()
}

/// Returns the probes, each with its target; notes what does not fit.
fn probes(
    read: Vec<probe::Read<'_>>,
    targets: &[TargetConfig],
    services: &[ServiceConfig],
) -> Vec<ProbeConfig> {
    let mut names: HashMap<String, usize> = HashMap::new();
    let mut probes = Vec::new();
    for mut read in read {
        if let Some(value) = read.section.get("name") {
            let name = &read.probe.name;
            let first = *names.entry(name.clone()).or_insert(value.span.start);
            if first != value.span.start {
                let line = value.faults.line(first);
                value.fault::<()>(&format!(
                    "duplicate probe `{name}`; expected a unique name (the first is in line {line})"
                ));
            }
        }
        if let Some(target) = target_of(&mut read.probe.target, "[[probe]]", &read.section, targets) {
            held_against(&read, target, services);
        }
        probes.push(read.probe);
    }
    probes
}

/// Notes what of a probe does not fit its target.
fn held_against(read: &probe::Read<'_>, target: &TargetConfig, services: &[ServiceConfig]) {
    let (call, faults) = (&read.probe.call, read.section.faults);
    let beside = services.iter().filter(|service| service.target == target.name).count();
    let has = |place: &str| call.args.iter().chain(call.env.values()).any(|word| word.contains(place));
    if beside > 1 && has(PORT_PLACE) {
        faults.add(&read.section.span, format!("this probe has a {PORT_PLACE}, but {beside} services run with it; expected the port in the `env` of the service"));
    }
    if let (Some(name), Some(value)) = (&target.contract, Table::get(&read.section, "contract")) {
        value.fault::<()>(&format!(
            "the target already has the contract `{name}`; expected `contract` in only one of the two places"
        ));
    }
    for (feature, is_there, what) in [
        (Feature::Login, call.login, "has `login = true`"),
        (Feature::Changes, read.probe.effect.is_some(), "changes something"),
        (Feature::LongRunning, call.interrupt.is_some(), "has `interrupt`"),
        (Feature::Network, has(STALLED_PLACE), "sends a request to {stalled}"),
        (Feature::Secret, call.secret, "has `secret = true`"),
        (Feature::Lists, call.list.is_some(), "prints a list"),
    ] {
        if is_there && target.conventions.lacks.contains(&feature) {
            let place = if feature == Feature::Lists { read.section.span_of("list") } else { None };
            faults.add(
                &place.unwrap_or_else(|| read.section.span.clone()),
                format!(
                    "the target has `lacks = [\"{}\"]`, and this probe {what}; expected only one of the two",
                    feature.name()
                ),
            );
        }
    }
    formats(read, target);
    list(read, target);
    secret(read, target);
    let (exit, codes) = (read.probe.exit, &target.conventions.exit_codes);
    if let (false, Some(span)) = (codes.contains(&exit), &read.exit) {
        let all: Vec<String> = codes.iter().map(ToString::to_string).collect();
        let all = all.join(", ");
        faults.add(span, format!("exit {exit} is not among the target's exit codes ({all}); expected one of them, or `exit_codes` in its table with {exit}"));
    }
}

/// Notes a secret of which the file says neither how to give it nor its value.
fn secret(read: &probe::Read<'_>, target: &TargetConfig) {
    if !read.probe.call.secret {
        return;
    }
    let (faults, span) = (read.section.faults, &read.section.span);
    let Some(config) = &target.conventions.secret else {
        return faults.add(span, "this probe has `secret = true`, and the target has no `secret`; expected `secret.env` in its table");
    };
    let name = &config.env;
    let has_value = read.probe.call.env.contains_key(name)
        || target.env.contains_key(name)
        || target.pass_env.contains(name);
    if !has_value {
        faults.add(span, format!("this probe has `secret = true`, and nothing sets {name}; expected it in `env` of the probe or the target, or in `pass_env`"));
    }
}

/// Notes a list of a probe that fails, or does not run in json.
fn list(read: &probe::Read<'_>, target: &TargetConfig) {
    let Some(value) = Table::get(&read.section, "list") else { return };
    let exit = read.probe.exit;
    if exit != 0 && read.exit.is_some() {
        value.fault::<()>(&format!("a probe with `list` succeeds, and this one has `exit = {exit}`; expected a call that exits with 0"));
    }
    if !read.probe.formats_of(target).any(|format| format == OutputFormat::Json) {
        value.fault::<()>("the items of a list are counted in json, and the probe does not run in json; expected `formats` that contain \"json\"");
    }
}

/// Notes the formats of a probe that its target lacks.
fn formats(read: &probe::Read<'_>, target: &TargetConfig) {
    let asking = &read.probe.call.asking;
    let lacking = |format: &OutputFormat| {
        !asking.contains_key(format) && target.conventions.formats.of(*format) == &Asking::Lacking
    };
    let Some(value) = Table::get(&read.section, "formats") else { return };
    let formats = &read.probe.formats;
    let named: Vec<&str> =
        formats.iter().filter(|format| lacking(format)).map(|format| format.name()).collect();
    // A table leaves to the target what it does not name.
    if !named.is_empty() && (asking.is_empty() || named.len() == formats.len()) {
        let all = named.join(", ");
        value.fault::<()>(&format!("the probe is run in {all}, and the target has no such format according to its configuration; expected formats that it has"));
    }
}

/// Returns the target of the probe or service in this table, which gets its name if it is the only one. Notes that there is
/// none.
fn target_of<'t>(
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
        (Some(name), Some(value)) if names.clone().next().is_none() => value.fault(&format!("unknown target `{name}`; the file's only target has no name: omit `target`, or rename its table to [target.{name}]")),
        (Some(name), Some(value)) => value.fault(&format!("unknown target `{name}`; {}", suggestion(name, names))),
        _ => {
            let all: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
            let all = all.join(" or ");
            section.faults.add(
                &section.span,
                format!("{title} has no `target` and the file has several; expected target = {all}"),
            );
            None
        }
    }
}
