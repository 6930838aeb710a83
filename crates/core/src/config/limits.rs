//! `limits` of a target: how much each of its runs may use.

use super::section::Section;
use agentnative_contract::spanned_toml::Value;
use agentnative_helper::Limits;

/// The units of a size, with their number of bytes.
const UNITS: [(&str, u64); 4] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];
/// A size has at most so many digits.
const DIGITS: usize = 6;

/// Reads the table; what it does not set stays as it is by default.
pub(super) fn read(value: &Value<'_>) -> Option<Limits> {
    let table = value.table("target.limits", "a table, such as limits.memory = \"8 GiB\"")?;
    let table = Section::new(table, "target.limits");
    let default = Limits::default();
    Some(Limits {
        memory: table.get("memory").and_then(|value| size(&value)).unwrap_or(default.memory),
        processes: table
            .get("processes")
            .and_then(|value| value.count("processes and threads"))
            .unwrap_or(default.processes),
        written: table.get("written").and_then(|value| size(&value)).unwrap_or(default.written),
    })
}

/// A number of bytes with its unit.
fn size(value: &Value<'_>) -> Option<u64> {
    const EXPECTED: &str = "a size from \"1 KiB\" to \"999999 TiB\", such as \"8 GiB\" or \"512 MiB\"";
    let text = value.string(EXPECTED)?.text;
    let bytes = UNITS.iter().find_map(|(unit, bytes)| {
        let number = text.strip_suffix(unit)?;
        let number = number.strip_suffix(' ').unwrap_or(number);
        let is_whole = number.bytes().all(|digit| digit.is_ascii_digit());
        let fits = number.len() <= DIGITS && !number.starts_with('0');
        Some(number.parse::<u64>().ok().filter(|_| is_whole && fits)? * bytes)
    });
    bytes.or_else(|| value.wrong(EXPECTED))
}
