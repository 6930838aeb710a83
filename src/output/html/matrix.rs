//! The checks by probes and formats: what was seen where.

use crate::check::{Judged, Observation, Recording};
use agentnative_core::model::{CheckResult, OutputFormat, Status};
use serde::Serialize;
use std::collections::BTreeMap;

/// A table of the behavioral checks that depend on probes.
#[derive(Debug, Serialize)]
pub(super) struct Matrix {
    /// The probes, each with its formats.
    probes: Vec<Column>,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Column {
    probe: String,
    formats: Vec<OutputFormat>,
}

#[derive(Debug, Serialize)]
struct Row {
    /// Place of the result in the report.
    result: usize,
    cells: Vec<Cell>,
}

/// What a check says of one probe in one format: a verdict; `seen`, where it found nothing but has another verdict
/// over all; empty where it did not look.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Cell {
    state: &'static str,
    /// The number of places.
    places: usize,
}

type Key = (String, OutputFormat);

impl Matrix {
    /// The table of a report; none where no check is about a probe.
    pub fn of(judged: &Judged) -> Option<Self> {
        let results = &judged.report.results;
        let seen: Vec<BTreeMap<Key, Cell>> = results.iter().map(|result| cells(judged, result)).collect();
        let mut keys: Vec<&Key> = Vec::new();
        // In the order of the runs, else in that of the faults.
        let order: Vec<Key> =
            judged.recording.iter().flat_map(Recording::named_observations).map(key).collect();
        for key in order.iter().chain(seen.iter().flat_map(BTreeMap::keys)) {
            if !keys.contains(&key) && seen.iter().any(|cells| cells.contains_key(key)) {
                keys.push(key);
            }
        }
        let mut probes: Vec<Column> = Vec::new();
        for (probe, format) in keys {
            match probes.iter_mut().find(|column| column.probe == *probe) {
                Some(column) => column.formats.push(*format),
                None => probes.push(Column { probe: probe.clone(), formats: vec![*format] }),
            }
        }
        probes.iter_mut().for_each(|column| column.formats.sort());
        let rows = seen.iter().enumerate().filter(|(_, cells)| !cells.is_empty());
        let rows: Vec<Row> = rows
            .map(|(result, cells)| {
                let cell = |key| cells.get(&key).copied().unwrap_or_default();
                let keys = probes
                    .iter()
                    .flat_map(|column| column.formats.iter().map(|format| (column.probe.clone(), *format)));
                Row { result, cells: keys.map(cell).collect() }
            })
            .collect();
        (!rows.is_empty()).then_some(Self { probes, rows })
    }
}

fn key((probe, seen): (&str, &Observation)) -> Key {
    (probe.to_owned(), seen.key.format)
}

/// The cells of a check that are not empty.
fn cells(judged: &Judged, result: &CheckResult) -> BTreeMap<Key, Cell> {
    let mut cells: BTreeMap<Key, Cell> = BTreeMap::new();
    if result.status == Status::NotApplicable {
        return cells;
    }
    for run in judged.runs(result.id) {
        let state = if result.status == Status::Pass { result.status.name() } else { "seen" };
        cells.entry(key(run)).or_insert(Cell { state, places: 0 });
    }
    let blocked = result.blocked_by.iter().map(|cause| (&cause.probe, cause.format, Status::Unverified));
    let faults = result.evidence.iter().map(|evidence| (&evidence.probe, evidence.format, result.status));
    for (probe, format, status) in blocked.chain(faults) {
        if let (Some(probe), Some(format)) = (probe, format) {
            let cell = cells.entry((probe.clone(), format)).or_default();
            *cell = Cell { state: status.name(), places: cell.places + 1 };
        }
    }
    cells
}
