//! `[[probe]]`.

use super::path::workspace;
use super::section::{Section, argv};
use super::{
    Asking, CallConfig, EffectConfig, FORMAT_PLACE, Known, ListConfig, ProbeConfig, common_flags, contract,
    formats,
};
use crate::files::{self, MAX_DATA};
use crate::model::OutputFormat;
use agentnative_contract::spanned_toml::{Span, Value, all};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A probe, and where it says what is held against the rest of the file.
pub(super) struct Read {
    pub(super) probe: ProbeConfig,
    pub(super) span: Span,
    /// Where its name is; none if it has no good one.
    pub(super) name: Option<Span>,
    /// Where its target is; none if it names none.
    pub(super) target: Option<Span>,
    /// It names a target, but not with a string.
    pub(super) target_broken: bool,
    /// Where its contract is; none if it names none.
    pub(super) contract: Option<Span>,
    /// Where it says in which formats it is run; none if it does not.
    pub(super) formats: Option<Span>,
    /// Where its list is; none if it prints none.
    pub(super) list: Option<Span>,
    /// What its exit code is held against the target's at; none if it is no exit code.
    pub(super) exit: Option<Span>,
}

pub(super) fn read_all(file: &Section<'_>, root: &Path, known: &Known<'_>) -> Vec<Read> {
    let expected = "tables: [[probe]] for each";
    let elements = file.get("probe").and_then(|value| value.elements(expected)).unwrap_or_default();
    elements
        .iter()
        .filter_map(|element| {
            Some(read(&Section::new(element.table("[[probe]]", expected)?, "probe"), root, known))
        })
        .collect()
}

fn read(table: &Section<'_>, root: &Path, known: &Known<'_>) -> Read {
    let name = table.require("name", "a unique name, such as name = \"list\"").and_then(|value| {
        let name = value.string("a string")?;
        if name.text.trim().is_empty() { value.fault("`name` is empty; expected a name") } else { Some(name) }
    });
    let target_value = table.get("target");
    let target = target_value.as_ref().and_then(|value| value.string("the name of a target (a string)"));
    let exit = match table.get("exit") {
        Some(value) => value.exit_code().map(|code| (code, value.span)),
        None => Some((0, table.span.clone())),
    };
    let said = table.get("formats");
    let (formats, asking) =
        said.as_ref().and_then(formats_of).unwrap_or_else(|| (OutputFormat::ALL.to_vec(), BTreeMap::new()));
    let (flags, dry_run_exit) =
        table.get("flags").and_then(|value| common_flags::read(&value, "probe.flags")).unwrap_or_default();
    let call = CallConfig { asking, flags, ..call(table, root, known, exit.as_ref()) };
    let probe = ProbeConfig {
        call,
        name: name.as_ref().map(|name| name.text.clone()).unwrap_or_default(),
        target: target.as_ref().map(|target| target.text.clone()),
        exit: exit.as_ref().map_or(0, |(code, _)| *code),
        formats,
        dry_run_exit,
        effect: effect(table, said.is_some(), exit.as_ref()),
        timeout: table.get("timeout").and_then(|value| value.seconds()),
        writes: table
            .get("writes")
            .and_then(|value| {
                let writes = value.boolean()?;
                if writes && table.get("workspace").is_some() {
                    return value.fault(
                        "`writes` and `workspace` cannot be combined: a run writes to its workspace anyway",
                    );
                }
                Some(writes)
            })
            .unwrap_or(false),
    };
    Read {
        probe,
        span: table.span.clone(),
        name: name.map(|name| name.span),
        target_broken: target_value.is_some() && target.is_none(),
        target: target.map(|target| target.span),
        contract: table.get("contract").map(|value| value.span),
        formats: said.map(|value| value.span),
        list: table.get("list").map(|value| value.span),
        exit: exit.map(|(_, span)| span),
    }
}

/// The call of a probe that is expected to end with this code.
fn call(table: &Section<'_>, root: &Path, known: &Known<'_>, exit: Option<&(i32, Span)>) -> CallConfig {
    let args = table.require("args", "an array of strings, such as args = [\"list\"]");
    CallConfig {
        args: args.and_then(|value| arguments(&value)).unwrap_or_default(),
        result: table.get("result").and_then(|value| value.boolean()).unwrap_or_default(),
        remedy: table.get("remedy").and_then(|value| remedy(&value, table, exit)).unwrap_or_default(),
        contract: table.get("contract").map(|value| contract::read(&value, root, known)).unwrap_or_default(),
        asking: BTreeMap::new(),
        flags: BTreeMap::new(),
        login: table.get("login").and_then(|value| value.boolean()).unwrap_or_default(),
        secret: table.get("secret").and_then(|value| value.boolean()).unwrap_or_default(),
        interrupt: table.get("interrupt").and_then(|value| interrupt(&value, table)),
        setup: table.get("setup").and_then(|value| setup(&value, table)).unwrap_or_default(),
        stream: table.get("stream").and_then(|value| value.boolean()).unwrap_or_default(),
        list: table.get("list").and_then(|value| list(&value)),
        stdin: table.get("stdin").and_then(|value| stdin(&value, root)),
        env: table.get("env").and_then(|value| value.variables()).unwrap_or_default(),
        cwd: table.get("cwd").and_then(|value| folder(&value, root)),
        workspace: table.get("workspace").and_then(|value| {
            if table.get("cwd").is_some() {
                return value
                    .fault("`workspace` and `cwd` cannot be combined: a run starts in its workspace");
            }
            workspace(&value, root)
        }),
        network: table.get("network").and_then(|value| value.boolean()).unwrap_or(false),
    }
}

/// What the call changes, and what is said of that.
fn effect(table: &Section<'_>, formats_declared: bool, exit: Option<&(i32, Span)>) -> Option<EffectConfig> {
    let said = |key: &str| {
        let value = table.get(key)?;
        let is_said = value.boolean()?;
        Some((is_said, value))
    };
    let (changes, destructive, idempotent) = (said("changes"), said("destructive"), said("idempotent"));
    let is = |said: &Option<(bool, Value<'_>)>| said.as_ref().is_some_and(|(is_said, _)| *is_said);
    if let Some((false, value)) = changes.as_ref().filter(|_| is(&destructive)) {
        return value.fault("`changes` is false and `destructive` is true; expected only one of the two");
    }
    if let Some((true, value)) = &idempotent {
        if !is(&changes) && !is(&destructive) {
            return value.fault("`idempotent` is true, but nothing says that the call changes something; expected `changes = true` or `destructive = true` beside it");
        }
        if let Some((code, _)) = exit.filter(|(code, _)| *code != 0) {
            value.fault::<()>(&format!(
                "`idempotent` is true and `exit` is {code}; expected a call that exits with 0"
            ));
        }
    }
    let (_, value) = [&changes, &destructive].into_iter().flatten().find(|(is_said, _)| *is_said)?;
    if table.get("workspace").is_none() {
        value.fault::<()>("a call that changes something runs in a folder of its own only; expected `workspace`: a folder to copy, or `true` for an empty one");
    }
    Some(EffectConfig {
        destructive: is(&destructive),
        idempotent: idempotent.map(|(is_said, _)| is_said),
        formats_declared,
    })
}

/// The text that shows that a call has begun what can be interrupted.
fn interrupt(value: &Value<'_>, table: &Section<'_>) -> Option<String> {
    const EXPECTED: &str = "a table, such as { after = \"exporting\" }";
    let inner = Section::new(value.table("`interrupt`", EXPECTED)?, "probe.interrupt");
    let after = inner.require("after", "the text that shows that the call has begun")?;
    let text = after.string("a text that the call prints (a string)")?.text;
    if text.trim().is_empty() {
        return after.fault("`after` is empty; expected a text that the call prints");
    }
    if table.get("workspace").is_none() {
        return value.fault("a call that is interrupted runs in a folder of its own only; expected `workspace`: a folder to copy, or `true` for an empty one");
    }
    Some(text)
}

/// Calls, each at least one argument, before a probe with a workspace.
fn setup(value: &Value<'_>, table: &Section<'_>) -> Option<Vec<Vec<String>>> {
    let calls = value.elements("an array of calls, such as [[\"init\"]]")?;
    if table.get("workspace").is_none() && !calls.is_empty() {
        return value
            .fault("`setup` makes calls in the workspace of the probe; expected `workspace` beside it");
    }
    all(calls.iter().map(argv))
}

/// At least one text, none of them blank, on a probe that fails.
fn remedy(value: &Value<'_>, probe: &Section<'_>, exit: Option<&(i32, Span)>) -> Option<Vec<String>> {
    const EXPECTED: &str = "an array of words that help, such as [\"mycli login\"]";
    let elements = value.elements(EXPECTED)?;
    let words: Option<Vec<String>> = elements
        .iter()
        .map(|element| {
            let text = element.string("a command or a setting (a string)")?.text;
            if text.trim().is_empty() {
                element.fault("the remedy is empty; expected words of the message")
            } else {
                Some(text)
            }
        })
        .collect();
    if elements.is_empty() {
        return value.fault(&format!("`remedy` is empty; expected {EXPECTED}"));
    }
    let is_data = probe.get("result").and_then(|result| result.inner.as_bool()) == Some(true);
    if is_data || exit.is_some_and(|(code, _)| *code == 0) {
        return value.fault("`remedy` belongs to an error, but this probe succeeds; expected `exit` with the code of its failure");
    }
    words
}

fn arguments(value: &Value<'_>) -> Option<Vec<String>> {
    let arguments = value.arguments()?;
    if let Some(second) = arguments.iter().filter(|argument| argument.text == FORMAT_PLACE).nth(1) {
        value.faults.add(&second.span, "duplicate \"{format}\"; expected at most one place for the format");
    }
    Some(arguments.into_iter().map(|argument| argument.text).collect())
}

/// Which formats, in the order of the specification, and how each is asked for where that is told.
fn formats_of(value: &Value<'_>) -> Option<(Vec<OutputFormat>, BTreeMap<OutputFormat, Asking>)> {
    const EXPECTED: &str = "an array of \"text\", \"json\", \"jsonl\", or a table, such as { json = [\"--format\", \"json\"], jsonl = false }";
    if value.inner.is_table() {
        let mut asking = formats::read(value, "probe.formats", EXPECTED)?;
        // What prints JSON without an option for it prints nothing else, unless another format is stated.
        let always = |format| asking.get(&format) == Some(&Asking::With(Vec::new()));
        if always(OutputFormat::Json) || always(OutputFormat::Jsonl) {
            OutputFormat::ALL.into_iter().for_each(|format| {
                asking.entry(format).or_insert(Asking::Lacking);
            });
        }
        let lacks = |format: &OutputFormat| asking.get(format) == Some(&Asking::Lacking);
        return Some((OutputFormat::ALL.into_iter().filter(|format| !lacks(format)).collect(), asking));
    }
    let elements = value.elements(EXPECTED)?;
    let names = OutputFormat::ALL.map(|format| (format.name(), format));
    let read: Vec<Option<OutputFormat>> = elements.iter().map(|element| element.choice(&names)).collect();
    let mut formats: Vec<OutputFormat> = read.into_iter().collect::<Option<_>>()?;
    if formats.is_empty() {
        return value.fault("`formats` is empty; expected at least one of \"text\", \"json\", \"jsonl\"");
    }
    formats.sort_unstable();
    formats.dedup();
    Some((formats, BTreeMap::new()))
}

/// Where the items are, and how many at most.
fn list(value: &Value<'_>) -> Option<ListConfig> {
    const EXPECTED: &str = "a table, such as { items = \"/data/items\", max = 100 }";
    let table = Section::new(value.table("`list`", EXPECTED)?, "probe.list");
    let items = table.require("items", "a JSON pointer, such as items = \"/data/items\"");
    let max = table.get("max").map(|value| value.count("items"));
    Some(ListConfig { items: pointer(&items?)?, max: max.map_or(Some(None), |max| max.map(Some))? })
}

/// An RFC 6901 pointer.
fn pointer(value: &Value<'_>) -> Option<String> {
    const EXPECTED: &str = "a JSON pointer, such as \"/data/items\", or \"\" for the document itself";
    let text = value.string(EXPECTED)?.text;
    let mut escapes = text.split('~').skip(1);
    let is_pointer = text.is_empty() || text.starts_with('/');
    if is_pointer && escapes.all(|rest| rest.starts_with(['0', '1'])) {
        return Some(text);
    }
    value.fault(&format!("`items` is {text:?}; expected {EXPECTED}"))
}

fn stdin(value: &Value<'_>, root: &Path) -> Option<Vec<u8>> {
    const EXPECTED: &str = "a string, or { file = \"…\" }";
    if !value.inner.is_table() {
        return Some(value.string(EXPECTED)?.text.into_bytes());
    }
    let table = Section::new(value.table("`stdin`", EXPECTED)?, "probe.stdin");
    let file = table.require("file", "the path of a file, relative to this one")?;
    let name = file.string("the path of a file")?.text;
    let path = root.join(&name);
    match files::read(&path, MAX_DATA) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            file.fault(&format!("cannot read `{name}`: {error}; expected a file at {}", path.display()))
        }
    }
}

fn folder(value: &Value<'_>, root: &Path) -> Option<PathBuf> {
    let name = value.string("the path of a folder, relative to this file")?.text;
    let path = root.join(&name);
    if path.is_dir() {
        return Some(path);
    }
    value.fault(&format!("no such folder: `{name}`; expected it at {}", path.display()))
}
