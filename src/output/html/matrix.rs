//! The table of verdicts with a row per check, and a column per probe and format.

use crate::check::{Judged, Observation, Recording};
use agentnative_core::model::{CheckResult, OutputFormat, Status};
use serde::Serialize;
use std::collections::BTreeMap;

/// A table with a row per behavioral check that depends on probes, and a column per probe and format. It has no columns
/// for explored calls that were only tried.
#[derive(Debug, Serialize)]
pub(super) struct Matrix {
    probes: Vec<Column>,
    rows: Vec<MatrixRow>,
}

#[derive(Debug, Serialize)]
struct Column {
    probe: String,
    formats: Vec<OutputFormat>,
}

#[derive(Debug, Serialize)]
struct MatrixRow {
    /// Index of the result in the report.
    result: usize,
    cells: Vec<Cell>,
}

/// The result of a check for one probe in one format. `state` is a verdict; `run` if the check has runs of this probe in
/// this format, and only others led to the verdict; empty if it has no such runs.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Cell {
    state: &'static str,
    places: usize,
}

type CellKey = (String, OutputFormat);

impl Matrix {
    /// Creates the matrix of a report; `None` if no check depends on a probe.
    pub fn of(judged: &Judged) -> Option<Self> {
        let results = &judged.report.results;
        let tried = judged.tried_calls();
        let mut rows_of_cells: Vec<BTreeMap<CellKey, Cell>> =
            results.iter().map(|result| cells(judged, result)).collect();
        rows_of_cells.iter_mut().for_each(|cells| cells.retain(|(probe, _), _| !tried.contains(&**probe)));
        let mut keys: Vec<&CellKey> = Vec::new();
        // In the order of the runs, then in that of the problems.
        let order: Vec<CellKey> =
            judged.recording.iter().flat_map(Recording::named_observations).map(cell_key).collect();
        for key in order.iter().chain(rows_of_cells.iter().flat_map(BTreeMap::keys)) {
            if !keys.contains(&key) && rows_of_cells.iter().any(|cells| cells.contains_key(key)) {
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
        let rows = rows_of_cells.iter().enumerate().filter(|(_, cells)| !cells.is_empty());
        let rows: Vec<MatrixRow> = rows
            .map(|(result, cells)| {
                let cell = |key| cells.get(&key).copied().unwrap_or_default();
                let keys = probes
                    .iter()
                    .flat_map(|column| column.formats.iter().map(|format| (column.probe.clone(), *format)));
                MatrixRow { result, cells: keys.map(cell).collect() }
            })
            .collect();
        (!rows.is_empty()).then_some(Self { probes, rows })
    }
}

fn cell_key((probe, seen): (&str, &Observation)) -> CellKey {
    (probe.to_owned(), seen.key.format)
}

/// Returns the non-empty cells of a check, by probe and format.
fn cells(judged: &Judged, result: &CheckResult) -> BTreeMap<CellKey, Cell> {
    let mut cells: BTreeMap<CellKey, Cell> = BTreeMap::new();
    if result.status == Status::NotApplicable {
        return cells;
    }
    // Further calls, such as `--help`, show how the target is called.
    let is_judged = |(_, seen): &(&str, &Observation)| {
        seen.key.probe.kind().is_none_or(|kind| result.id.check().derived.contains(&kind))
    };
    for run in judged.runs(result.id).into_iter().filter(is_judged) {
        let state = if result.status == Status::Pass { result.status.name() } else { "run" };
        cells.entry(cell_key(run)).or_insert(Cell { state, places: 0 });
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
