//! Parses the `[[service]]` tables of the configuration.

use super::section::Section;
use super::{PORT_PLACEHOLDER, Ready, ServiceConfig};
use std::collections::BTreeMap;

pub(super) fn parse_all<'a>(file: &mut Section<'a>) -> Vec<(ServiceConfig, Section<'a>)> {
    file.take_sections("service").into_iter().map(|mut section| (parse(&mut section), section)).collect()
}

fn parse(section: &mut Section<'_>) -> ServiceConfig {
    let ready = ready(section).unwrap_or(Ready::Port(None));
    section.take("ready");
    let (command, env) = (Vec::new(), BTreeMap::new());
    section.applied_to(ServiceConfig { target: None, command, ready, env })
}

fn ready(section: &Section<'_>) -> Option<Ready> {
    let (value, table) = (section.get("ready")?, section.section("ready")?);
    match (table.value::<u16>("port"), table.value::<String>("line")) {
        (Some(port), None) => Some(Ready::Port(Some(port))),
        (None, None) if table.value::<String>("port").as_deref() == Some(PORT_PLACEHOLDER) => Some(Ready::Port(None)),
        (None, Some(line)) if !table.has("port") => Some(Ready::Line(line)),
        _ => value.report(&format!(
            "`ready` requires either `port` or `line`; expected `ready = {{ port = \"{PORT_PLACEHOLDER}\" }}`, or \
             `ready = {{ line = \"…\" }}` for a line of its output"
        )),
    }
}
