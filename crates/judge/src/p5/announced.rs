//! Compares the files that a dry run lists in JSON with those that the call changes.

use crate::kit::{RunChanges, is_folder};
use agentnative_core::run::{Area, FileChange};
use serde_json::Value;
use std::collections::BTreeSet;

/// Paths of files, relative to the workspace of a call.
type Paths<'a> = BTreeSet<&'a str>;

/// Compares the paths that a dry run lists in JSON with the files that the call changes. Returns `None` if they agree:
/// a list contains exactly the changed files, or exactly the created, the modified or the removed ones. Otherwise
/// returns the longest list that names a changed file; `None` if no list names any.
pub(super) fn differing_list<'v>(dry_run: &'v Value, changed: &RunChanges) -> Option<Paths<'v>> {
    if changed.is_truncated {
        return None;
    }
    let files = |is_kind: fn(&FileChange) -> bool| -> Paths<'_> {
        let is_file =
            |change: &FileChange| !change.after.as_ref().or(change.before.as_ref()).is_some_and(is_folder);
        let own = changed.all.iter().filter(|change| change.area == Area::Workspace && is_file(change));
        own.filter(|change| is_kind(change)).map(|change| change.path.as_str()).collect()
    };
    let all = files(|_| true);
    let kinds = [
        files(|change| change.before.is_none()),
        files(|change| change.after.is_none()),
        files(|change| change.before.is_some() && change.after.is_some()),
    ];
    let mut lists = Vec::new();
    collect(dry_run, &mut lists);
    lists.retain(|list| !list.is_disjoint(&all));
    let is_announced = |list: &Paths| {
        kinds.iter().chain([&all]).any(|files| !files.is_empty() && names_exactly(list, files))
    };
    if lists.iter().any(is_announced) { None } else { lists.into_iter().max_by_key(BTreeSet::len) }
}

/// True if the list covers exactly `files`: each path is one of the files or a folder that contains some of them, and
/// each file is covered by a path.
fn names_exactly(list: &Paths, files: &Paths) -> bool {
    let names = |path: &str, file: &str| {
        file.strip_prefix(path.trim_end_matches('/'))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    list.iter().all(|path| files.iter().any(|file| names(path, file)))
        && files.iter().all(|file| list.iter().any(|path| names(path, file)))
}

/// Collects the lists of paths in a JSON value into `lists`: arrays of strings, such as `["a", "b"]`, and the values of
/// each key in an array of objects, such as `[{"path": "a"}, {"path": "b"}]`.
fn collect<'v>(value: &'v Value, lists: &mut Vec<Paths<'v>>) {
    let path = |value: &'v Value| value.as_str().map(|path| path.trim_start_matches("./"));
    match value {
        Value::Object(members) => members.values().for_each(|value| collect(value, lists)),
        Value::Array(elements) => {
            lists.extend(elements.iter().map(path).collect::<Option<Paths>>());
            let members =
                elements.first().and_then(Value::as_object).into_iter().flat_map(|first| first.keys());
            lists.extend(
                members.filter_map(|key| elements.iter().map(|element| path(element.get(key)?)).collect()),
            );
            elements.iter().for_each(|value| collect(value, lists));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agentnative_core::run::{FileEntry, FileKind};
    use serde_json::json;

    #[test]
    fn a_list_of_files_is_compared_with_the_changes() {
        let entry = |kind: FileKind| {
            Some(FileEntry { kind, mode: 0o644, size: 1, digest: String::new(), shape: None })
        };
        let change = |path: &str, before: Option<FileEntry>, after: Option<FileEntry>| FileChange {
            area: Area::Workspace,
            path: path.to_owned(),
            before,
            after,
        };
        let changes = [
            change("out", None, entry(FileKind::Folder)),
            change("out/a", None, entry(FileKind::File)),
            change("out/b", None, entry(FileKind::File)),
            change("index", entry(FileKind::File), entry(FileKind::File)),
        ];
        let changed = RunChanges::from_list(changes.iter().collect());
        let differs = |value: Value| differing_list(&value, &changed).is_some();
        for same in [
            json!({"writes": ["out/a", "out/b", "index"]}),
            json!({"creates": ["./out/b", "out/a"], "kept": ["c"]}),
            json!({"files": [{"path": "out/a", "size": 1}, {"path": "out/b", "size": 2}]}),
            json!({"creates": ["out/"], "modifies": ["index"]}),
            json!({"read": ["in.csv"]}),
            json!({"note": "writes out/a"}),
        ] {
            assert!(!differs(same.clone()), "{same}");
        }
        for other in [
            json!({"writes": ["out/a"]}),
            json!({"files": [{"path": "out/a"}, {"path": "out/b"}, {"path": "out/c"}]}),
            json!(["out/a", "out/b", "index", "other"]),
        ] {
            assert!(differs(other.clone()), "{other}");
        }
    }
}
