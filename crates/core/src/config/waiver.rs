//! Parses the `[[waiver]]` tables of the configuration.

use super::check::report_unknown_check;
use super::section::Section;
use super::{Date, ProbeConfig, ValidationContext, Waiver};
use agentnative_contract::spanned_toml::name_hint;
use toml::value::Datetime;

/// Returns the waivers that the file declares. `probes` are its probes, which waivers can name.
pub(super) fn parse_all(
    file: &mut Section<'_>,
    probes: &[ProbeConfig],
    known: &ValidationContext<'_>,
) -> Vec<Waiver> {
    file.take_sections("waiver").into_iter().map(|section| parse(section, probes, known)).collect()
}

fn parse(mut section: Section<'_>, probes: &[ProbeConfig], known: &ValidationContext<'_>) -> Waiver {
    if let (Some(value), Some(id)) = (section.get("check"), section.value::<String>("check"))
        && !known.checks.contains(&id.as_str())
    {
        report_unknown_check(&value, &id, known);
    }
    check_probe(&section, probes);
    let expires = expires(&section);
    section.take("expires");
    let waiver = section.applied_to(Waiver::default());
    Waiver { expires, expired: expires.is_some_and(|last| last < known.today), ..waiver }
}

/// Reports a waiver for a probe that is neither declared nor a derived call such as `--help`.
fn check_probe(section: &Section<'_>, probes: &[ProbeConfig]) -> Option<()> {
    let (value, name) = (section.get("probe")?, section.value::<String>("probe")?);
    let names = probes.iter().map(|probe| probe.name.as_str());
    let is_derived = name.starts_with('-') || name.starts_with("agentnative-");
    if is_derived || names.clone().any(|declared| declared == name) {
        return None;
    }
    let near = if probes.is_empty() { "the file declares no probes".into() } else { name_hint(&name, names) };
    value.report(&format!("unknown probe `{name}`; {near}"))
}

/// Parses the last day of a waiver. Reports a string with a day that does not exist, such as `2026-02-30`; TOML itself
/// rejects such a date without quotes.
fn expires(section: &Section<'_>) -> Option<Date> {
    let (value, text) = (section.get("expires")?, section.value::<String>("expires")?);
    match text.parse::<Datetime>().ok().and_then(|datetime| datetime.date) {
        Some(date) => Some(Date { year: date.year.into(), month: date.month, day: date.day }),
        None => value.report_value("a valid date: YYYY-MM-DD"),
    }
}
