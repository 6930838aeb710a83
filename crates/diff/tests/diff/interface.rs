//! Comparison of interfaces, beyond the examples of the rules.

use agentnative_diff::Change;
use agentnative_diff::interface::{
    InterfaceComparison, ProgramInterface, compare_interfaces, vanished_commands, vanished_options,
};
use serde_json::{Value, json};

fn interface(commands: Value) -> ProgramInterface {
    serde_json::from_value(json!({ "commands": commands })).unwrap()
}

fn compare(old: &Value, new: &Value) -> InterfaceComparison {
    compare_interfaces(&interface(old.clone()), Some(&interface(new.clone())))
}

/// Rule, command and severity of each change.
fn summary(changes: &[Change]) -> Vec<(&str, &str, &str)> {
    fn row(change: &Change) -> (&str, &str, &str) {
        let Change { rule, command, class, .. } = change;
        (rule, command.as_deref().unwrap_or("none"), class.name())
    }
    changes.iter().map(row).collect()
}

fn commands(names: &[&str], options: &Value) -> Value {
    let command = |name: &&str| ((*name).to_owned(), json!({"reader": "cobra", "options": options}));
    Value::Object(names.iter().map(command).collect())
}

#[test]
fn an_equal_interface_has_no_change() {
    let all = commands(&["", "a", "a b"], &json!({"--x": {"value": "X", "values": ["1"], "default": "1"}}));
    assert!(compare(&all, &all).changes.is_empty());
}

#[test]
fn the_same_change_of_several_commands_is_reported_once() {
    let names = ["", "a", "b", "c"];
    let found =
        compare(&commands(&names, &json!({"--x": {}, "--y": {}})), &commands(&names, &json!({"--y": {}})));
    assert_eq!(summary(&found.changes), [("diff-option-removed", "", "breaking")]);
    let also: Vec<_> = found.changes[0].also.iter().filter_map(|other| other.command.as_deref()).collect();
    assert_eq!(also, ["a", "b", "c"]);
}

#[test]
fn a_removed_command_hides_its_subcommands_and_names_its_successor() {
    let about =
        |name: &str| (name.to_owned(), json!({"reader": "clap", "description": "Manage remote hosts"}));
    let old =
        Value::Object([about("remote"), about("remote add"), ("".into(), json!({}))].into_iter().collect());
    let new =
        Value::Object([about("hosts"), about("hosts add"), ("".into(), json!({}))].into_iter().collect());
    let found = compare(&old, &new);
    assert_eq!(
        summary(&found.changes),
        [("diff-command-removed", "remote", "breaking"), ("diff-command-added", "hosts", "compatible")]
    );
    assert_eq!(found.changes[0].note.as_deref(), Some("probably renamed to `hosts`"));
}

#[test]
fn options_are_shared_by_most_commands_below() {
    let help = json!({"--help": {"short": ["-h"]}, "--own": {}});
    let mut all = commands(&["", "a", "b", "c", "d"], &help);
    all["d"]["options"] = json!({});
    let shared = interface(all.clone()).with_global_options();
    let stored = serde_json::to_value(&shared).unwrap();
    assert_eq!(stored["commands"][""]["options"]["--help"], json!({"short": ["-h"], "global": true}));
    assert_eq!(stored["commands"]["a"], json!({"reader": "cobra"}));
    assert_eq!(stored["commands"]["d"], json!({"reader": "cobra", "without": ["--help", "--own"]}));
    // Stored once or repeated: no change.
    assert!(compare_interfaces(&shared, Some(&interface(all))).changes.is_empty());
}

#[test]
fn what_only_one_side_states_is_listed_and_not_compared() {
    let old = commands(
        &["a"],
        &json!({"--x": {"value": "X", "default": "1"}, "--y": {"value": "Y", "values": ["1", "2"]}}),
    );
    let new = commands(&["a"], &json!({"--x": {"value": "X"}, "--y": {"value": "Y"}}));
    let found = compare(&old, &new);
    assert!(found.changes.is_empty(), "{:?}", found.changes);
    assert_eq!(
        found.not_compared,
        ["allowed values, stated on one side only: `a --y`", "defaults, stated on one side only: `a --x`",]
    );
}

#[test]
fn a_default_with_other_punctuation_is_the_same() {
    let with = |default: &str| commands(&[""], &json!({"--x": {"value": "X", "default": default}}));
    for (old, new) in
        [("20", "20.0"), ("OUTDIR/trees", "OUT_DIR/trees"), ("['a', 'b']", "[a,b]"), ("True", "true")]
    {
        assert!(compare(&with(old), &with(new)).changes.is_empty(), "{old} {new}");
    }
    for (old, new) in [("1.5m", "15m"), ("a-b", "ab"), ("localhost:80", "127.0.0.1:80")] {
        let found = compare(&with(old), &with(new));
        assert_eq!(summary(&found.changes), [("diff-default-changed", "", "risky")], "{old} {new}");
    }
}

#[test]
fn a_new_name_is_an_option_of_the_same_command() {
    let old = json!({"": {"reader": "cobra", "options": {"--v": {}}}, "key": {"reader": "cobra", "options": {"--user": {}}}});
    let new = |own: &Value| json!({"": {"reader": "cobra", "options": {"--v": {}, "--users": {"global": true}}}, "key": {"reader": "cobra", "options": own}});
    let note = |own: &Value| compare(&old, &new(own)).changes[0].note.clone();
    assert_eq!(note(&json!({"--names": {}})), None);
    assert_eq!(note(&json!({"--user-name": {}})).as_deref(), Some("probably renamed to `--user-name`"));
}

#[test]
fn a_hidden_command_still_works() {
    let command = |rest: &Value| json!({"": {}, "env": rest});
    let (listed, hidden) =
        (command(&json!({"reader": "cobra", "options": {"--x": {}}})), command(&json!({"hidden": true})));
    assert_eq!(summary(&compare(&listed, &hidden).changes), [("diff-hidden", "env", "compatible")]);
    assert!(compare(&hidden, &listed).changes.is_empty());
    let none = json!({"": {}});
    assert_eq!(summary(&compare(&hidden, &none).changes), [("diff-command-removed", "env", "breaking")]);
    assert_eq!(vanished_commands(&interface(hidden), &interface(none)), ["env"]);
}

#[test]
fn a_page_of_another_kind_is_undecided() {
    let options = json!({"--a": {}, "--b": {}, "--c": {}});
    let page = |reader: &Value, options: &Value| json!({"": {"reader": reader, "options": options}});
    let old = page(&json!("argparse"), &options);
    let unread = json!({"": {}});
    for new in [&page(&json!("clap"), &options), &page(&json!("argparse"), &json!({})), &unread] {
        assert_eq!(summary(&compare(&old, new).changes), [("diff-undecided", "", "undecided")], "{new}");
    }
    assert_eq!(summary(&compare(&unread, &old).changes), [("diff-undecided", "", "undecided")]);
    // A specification is exact, whatever it is compared with.
    assert!(compare(&old, &page(&json!("usage"), &options)).changes.is_empty());
    let found = compare_interfaces(&interface(old), None);
    assert_eq!(summary(&found.changes), [("diff-undecided", "", "undecided")]);
}

#[test]
fn an_option_that_is_listed_only_in_its_negated_form_is_undecided() {
    let (old, new) = (commands(&[""], &json!({"--sort": {}})), commands(&[""], &json!({"--no-sort": {}})));
    assert_eq!(
        summary(&compare(&old, &new).changes),
        [("diff-undecided", "", "undecided"), ("diff-option-added", "", "compatible")]
    );
}

#[test]
fn a_value_that_a_page_without_placeholders_does_not_state_is_no_change() {
    let page = |options: Value| json!({"": {"reader": "plain", "options": options}});
    let new = page(json!({"--config": {"value": "FILE"}, "--quiet": {}}));
    let found = compare(&page(json!({"--config": {}, "--quiet": {}})), &new);
    assert_eq!((summary(&found.changes), found.not_compared.len()), (vec![], 1));
    let found = compare(&page(json!({"--config": {}, "--quiet": {"value": "N"}})), &new);
    assert_eq!(summary(&found.changes).len(), 2);
}

#[test]
fn vanished_options_and_values_are_listed_with_their_commands() {
    let old = commands(&["", "a"], &json!({"--x": {}, "--y": {"value": "Y", "values": ["1", "2"]}}));
    let new = commands(&["", "a"], &json!({"--y": {"value": "Y", "values": ["1"]}}));
    let found = vanished_options(&interface(old), &interface(new));
    let found: Vec<_> =
        found.iter().map(|one| (one.command.as_str(), one.name.as_str(), one.value.as_deref())).collect();
    assert_eq!(
        found,
        [("", "--x", None), ("", "--y", Some("2")), ("a", "--x", None), ("a", "--y", Some("2"))]
    );
}
