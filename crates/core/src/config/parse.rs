//! Reading the file: its elements, and whether they fit each other.

use super::discover::part_of;
use super::section::Section;
use super::{
    Asking, Config, Feature, Known, PORT_PLACE, ProbeConfig, STALLED_PLACE, ServiceConfig, TargetConfig,
    check, probe, service, target, waiver,
};
use crate::model::OutputFormat;
use agentnative_contract::error::{Error, Result};
use agentnative_contract::spanned_toml::{Diagnostics, Span, Table, parse_file, parse_part, suggestion};
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
            let file = &Section::new(table, "");
            let targets = target::read_all(file, &root, known);
            let services = services(service::read_all(file), &targets, file.faults);
            let probes = probes(probe::read_all(file, &root, known), &targets, &services, file.faults);
            let waivers = waiver::read_all(file, &probes, known);
            let check = check::read(file, known);
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

/// The services, each with its target; notes what does not fit.
fn services(
    read: Vec<service::Read>,
    targets: &[TargetConfig],
    faults: &Diagnostics<'_>,
) -> Vec<ServiceConfig> {
    let own = |mut read: service::Read| {
        if !read.target_broken {
            let name = (&mut read.service.target, &read.target);
            target_of(name, ("[[service]]", &read.span), targets, faults);
        }
        read.service
    };
    read.into_iter().map(own).collect()
}

/// The probes, each with its target; notes what does not fit.
fn probes(
    read: Vec<probe::Read>,
    targets: &[TargetConfig],
    services: &[ServiceConfig],
    faults: &Diagnostics<'_>,
) -> Vec<ProbeConfig> {
    let mut names = HashMap::new();
    let mut probes = Vec::new();
    for mut read in read {
        if let Some(span) = &read.name {
            let first = *names.entry(read.probe.name.clone()).or_insert(span.start);
            if first != span.start {
                let line = faults.line(first);
                let name = &read.probe.name;
                faults.add(
                    span,
                    format!("duplicate probe `{name}`; expected a unique name (the first is in line {line})"),
                );
            }
        }
        let name = (&mut read.probe.target, &read.target);
        let target = match read.target_broken {
            true => None,
            false => target_of(name, ("[[probe]]", &read.span), targets, faults),
        };
        if let Some(target) = target {
            let beside = services.iter().filter(|service| service.target == target.name).count();
            let words = read.probe.call.args.iter().chain(read.probe.call.env.values());
            if beside > 1 && words.clone().any(|word| word.contains(PORT_PLACE)) {
                faults.add(&read.span, format!("this probe has a {PORT_PLACE}, but {beside} services run with it; expected the port in the `env` of the service"));
            }
            if let (Some(name), Some(span)) = (&target.contract, &read.contract) {
                faults.add(span, format!("the target already has the contract `{name}`; expected `contract` in only one of the two places"));
            }
            formats(&read, target, faults);
            list(&read, target, faults);
            if read.probe.call.login && target.conventions.lacks.contains(&Feature::Login) {
                faults.add(&read.span, "the target has `lacks = [\"login\"]`, and this probe has `login = true`; expected only one of the two");
            }
            if read.probe.effect.is_some() && target.conventions.lacks.contains(&Feature::Changes) {
                faults.add(&read.span, "the target has `lacks = [\"changes\"]`, and this probe changes something; expected only one of the two");
            }
            if read.probe.call.interrupt.is_some() && target.conventions.lacks.contains(&Feature::LongRunning)
            {
                faults.add(&read.span, "the target has `lacks = [\"long-running\"]`, and this probe has `interrupt`; expected only one of the two");
            }
            if words.clone().any(|word| word.contains(STALLED_PLACE))
                && target.conventions.lacks.contains(&Feature::Network)
            {
                faults.add(&read.span, "the target has `lacks = [\"network\"]`, and this probe sends a request to {stalled}; expected only one of the two");
            }
            secret(&read, target, faults);
            let (exit, codes) = (read.probe.exit, &target.conventions.exit_codes);
            if let (false, Some(span)) = (codes.contains(&exit), &read.exit) {
                let all: Vec<String> = codes.iter().map(ToString::to_string).collect();
                let all = all.join(", ");
                faults.add(span, format!("exit {exit} is not among the target's exit codes ({all}); expected one of them, or `exit_codes` in its table with {exit}"));
            }
        }
        probes.push(read.probe);
    }
    probes
}

/// Notes a secret that nobody says how to give, or whose value is nowhere.
fn secret(read: &probe::Read, target: &TargetConfig, faults: &Diagnostics<'_>) {
    if !read.probe.call.secret {
        return;
    }
    if target.conventions.lacks.contains(&Feature::Secret) {
        faults.add(&read.span, "the target has `lacks = [\"secret\"]`, and this probe has `secret = true`; expected only one of the two");
    }
    let Some(config) = &target.conventions.secret else {
        faults.add(&read.span, "this probe has `secret = true`, and the target has no `secret`; expected `secret.env` in its table");
        return;
    };
    let name = &config.env;
    let has_value = read.probe.call.env.contains_key(name)
        || target.env.contains_key(name)
        || target.pass_env.contains(name);
    if !has_value {
        faults.add(&read.span, format!("this probe has `secret = true`, and nothing sets {name}; expected it in `env` of the probe or the target, or in `pass_env`"));
    }
}

/// Notes a list where the probe or its target says that there is none.
fn list(read: &probe::Read, target: &TargetConfig, faults: &Diagnostics<'_>) {
    let Some(span) = &read.list else { return };
    if target.conventions.lacks.contains(&Feature::Lists) {
        faults.add(span, "the target has `lacks = [\"lists\"]`, and this probe prints a list; expected only one of the two");
    }
    let exit = read.probe.exit;
    if exit != 0 && read.exit.is_some() {
        faults.add(span, format!("a probe with `list` succeeds, and this one has `exit = {exit}`; expected a call that exits with 0"));
    }
    if !read.probe.formats_of(target).any(|format| format == OutputFormat::Json) {
        faults.add(span, "the items of a list are counted in json, and the probe does not run in json; expected `formats` that contain \"json\"");
    }
}

/// Notes the formats of a probe that its target says it has not.
fn formats(read: &probe::Read, target: &TargetConfig, faults: &Diagnostics<'_>) {
    let own = |format: &OutputFormat| read.probe.call.asking.contains_key(format);
    let lacking =
        |format: &OutputFormat| !own(format) && target.conventions.formats.of(*format) == &Asking::Lacking;
    let Some(span) = &read.formats else { return };
    let formats = &read.probe.formats;
    let named: Vec<&str> =
        formats.iter().filter(|format| lacking(format)).map(|format| format.name()).collect();
    // A table leaves to the target what it does not name.
    if !named.is_empty() && (read.probe.call.asking.is_empty() || named.len() == formats.len()) {
        let all = named.join(", ");
        faults.add(span, format!("the probe is run in {all}, and the target has no such format according to its configuration; expected formats that it has"));
    }
}

/// The target of a probe or service, whose name (and where that is) is then written there if it is the only
/// one; the element's title and place are for the fault when there is none.
fn target_of<'t>(
    (name, place): (&mut Option<String>, &Option<Span>),
    (title, span): (&str, &Span),
    targets: &'t [TargetConfig],
    faults: &Diagnostics<'_>,
) -> Option<&'t TargetConfig> {
    if let (None, [only]) = (&name, targets) {
        name.clone_from(&only.name);
    }
    let found = targets.iter().find(|target| target.name == *name);
    if found.is_some() {
        return found;
    }
    let names = targets.iter().filter_map(|target| target.name.as_deref());
    match (name, place) {
        (Some(name), Some(span)) if names.clone().next().is_none() => {
            faults.add(span, format!("unknown target `{name}`; the file's only target has no name: omit `target`, or rename its table to [target.{name}]"));
        }
        (Some(name), Some(span)) => {
            faults.add(span, format!("unknown target `{name}`; {}", suggestion(name, names)));
        }
        _ => {
            let all: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
            let all = all.join(" or ");
            faults.add(
                span,
                format!("{title} has no `target` and the file has several; expected target = {all}"),
            );
        }
    }
    None
}
