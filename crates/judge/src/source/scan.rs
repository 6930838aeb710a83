//! Reads the code of a package and matches the rules, on all cores.

use super::Rules;
use super::file::{self, FileFacts};
use super::package::PackageCode;
use super::unread::ImportGraph;
use super::walk::{self, SourceFile};
use agentnative_contract::budget::{self, Budget};
use agentnative_contract::error::Result;
use agentnative_core::facts::CodeFacts;
use agentnative_core::model::Language;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder};

/// Limits of time and memory for reading one file. The size of the file already limits the steps of the rules, so these
/// limits only matter for slow parsers.
pub const BUDGET: Budget = Budget { memory: 1 << 30, ..Budget::STEP };

/// Reads code like [`scan`], but within a budget. If the budget is exceeded, the facts contain no code, only the reason
/// in `stopped`.
///
/// # Errors
/// As [`scan`].
pub fn scan_within(budget: Budget, folder: PathBuf, rules: Rules) -> Result<CodeFacts> {
    let fingerprints = rules.fingerprints.clone();
    budget::run_within(budget, move || scan(&folder, &rules)).unwrap_or_else(|spent| {
        let stopped = Some(format!("reading the code was stopped: it needs {spent}"));
        Ok(CodeFacts { rules: fingerprints, stopped, ..CodeFacts::default() })
    })
}

/// Reads the code of the package in `folder`, and of the packages in its workspace from which it is built, and matches
/// `rules`.
///
/// # Errors
/// Returns a general error if `folder` is not a folder, or a rule is invalid.
pub fn scan(folder: &Path, rules: &Rules) -> Result<CodeFacts> {
    let packages = PackageCode::all(folder);
    let own = &packages[0];
    let mut facts = CodeFacts {
        manifest: own.manifest.map(str::to_owned),
        rules: rules.fingerprints.clone(),
        ..CodeFacts::default()
    };
    let mut files = Vec::new();
    for package in &packages {
        files.extend(walk::walk(package, &mut facts.excluded)?);
        let new = package.dependencies.iter().filter(|dependency| !facts.dependencies.contains(dependency));
        facts.dependencies.extend(new.cloned().collect::<Vec<_>>());
    }
    // Largest first, so that no large file is started last.
    files.sort_by(|a, b| b.size.cmp(&a.size).then_with(|| a.name.cmp(&b.name)));
    for file in &files {
        *facts.files.entry(file.language).or_default() += 1;
    }
    let mut tables = BTreeMap::new();
    for language in facts.files.keys() {
        if let Some(table) = rules.first_pass_rules(*language) {
            tables.insert(*language, table?);
        }
    }
    let results = parallel(&files, |file| {
        let file_facts = file::match_rules(file, tables.get(&file.language)?);
        Some(file_facts.map(|file_facts| (file, file_facts)))
    });
    let mut graph = ImportGraph::new(&files);
    for result in results {
        let (file, file_facts) = result?;
        graph.add(file, &file_facts);
        file_facts.add_to(&mut facts);
    }
    facts.unread = graph.unread(own);
    second_pass(&files, rules, &mut facts)?;
    facts.matches.sort_by(|a, b| (&a.span.file, a.span.range.start).cmp(&(&b.span.file, b.span.range.start)));
    facts.skipped.sort_by(|a, b| a.file.cmp(&b.file));
    facts.waivers.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    Ok(facts)
}

/// Matches the rules of the second pass, which search for names that other rules captured.
fn second_pass(files: &[SourceFile<'_>], rules: &Rules, facts: &mut CodeFacts) -> Result<()> {
    let mut names: BTreeMap<Language, BTreeSet<&str>> = BTreeMap::new();
    for found in &facts.matches {
        if let Some(name) = &found.name
            && rules.is_named(found.language, &found.check, &found.rule)
        {
            names.entry(found.language).or_default().insert(name);
        }
    }
    let mut tables = BTreeMap::new();
    for (language, names) in &names {
        if let Some(table) = rules.second_pass_rules(*language, &names.iter().copied().collect::<Vec<_>>()) {
            tables.insert(*language, table?);
        }
    }
    let results = parallel(files, |file| {
        let file_facts = file::match_rules(file, tables.get(&file.language)?);
        let known =
            |name: &String| names.get(&file.language).is_some_and(|names| names.contains(name.as_str()));
        Some(file_facts.map(|mut file_facts| {
            file_facts.matches.retain(|found| found.name.as_ref().is_some_and(known));
            FileFacts { matches: file_facts.matches, skipped: file_facts.skipped, ..FileFacts::default() }
        }))
    });
    for result in results {
        let mut file_facts = result?;
        file_facts.skipped = file_facts.skipped.filter(|skipped| !facts.skipped.contains(skipped));
        file_facts.add_to(facts);
    }
    Ok(())
}

impl FileFacts {
    fn add_to(self, facts: &mut CodeFacts) {
        facts.bytes += self.bytes;
        facts.parsed += usize::from(self.parsed);
        facts.matches.extend(self.matches);
        facts.skipped.extend(self.skipped);
        facts.waivers.extend(self.waivers);
        if self.generated {
            facts.excluded.generated += 1;
        }
    }
}

/// Calls `work` for each file, on all cores. Returns the results that are not `None`, in no particular order.
fn parallel<'f, 'p, T: Send>(
    files: &'f [SourceFile<'p>],
    work: impl Fn(&'f SourceFile<'p>) -> Option<T> + Sync,
) -> Vec<T> {
    let workers = thread::available_parallelism().map_or(1, usize::from).min(files.len());
    let next = AtomicUsize::new(0);
    let one = || {
        let files = std::iter::from_fn(|| {
            budget::checkpoint();
            budget::finish_step();
            files.get(next.fetch_add(1, Ordering::Relaxed))
        });
        files.filter_map(&work).collect::<Vec<T>>()
    };
    thread::scope(|scope| {
        // Fewer threads may be available. This thread only works if there is no other, because its stack may be small.
        let spawn = |_| {
            Builder::new()
                .stack_size(budget::STACK_BYTES)
                .spawn_scoped(scope, budget::as_part_of_this_work(one))
                .ok()
        };
        let others: Vec<_> = (0..workers).map_while(spawn).collect();
        let mut all = if others.is_empty() { one() } else { Vec::new() };
        let joined = others.into_iter().map(|handle| handle.join());
        all.extend(joined.flat_map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))));
        all
    })
}
