//! `[target]` and `[target.NAME]`.

use super::path::{home, is_below};
use super::reference::{key, keys_of};
use super::section::{Section, argv};
use super::{
    Asking, Conventions, FILE_PLACE, Feature, Flags, Formats, Isolation, Key, Known, SecretConfig,
    TargetConfig, common_flags, contract, formats, limits,
};
use crate::model::{OutputFormat, Stream};
use agentnative_contract::Contract;
use agentnative_contract::spanned_toml::{Table, Value, all, nearest, suggestion, variable_name};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// All targets of the file; one with the defaults if it has none.
pub(super) fn read_all(file: &Section<'_>, root: &Path, known: &Known<'_>) -> Vec<TargetConfig> {
    let Some(value) = file.get("target") else { return vec![TargetConfig::default()] };
    let expected = "a table: [target], or [target.NAME] for each of several";
    let Some(table) = value.table("[target]", expected) else { return vec![TargetConfig::default()] };
    // A setting's name is always the setting; under any other key, a table is a target of that name.
    let settings = keys_of("target");
    let is_setting = |name: &str| settings.contains(&name) && !means_a_target(&table, name);
    let is_target = |name: &str| {
        let inner = table.get(name).and_then(|value| value.inner.as_table());
        // Without any setting in it, a name that is nearly a setting is misspelt: `format.json`.
        let is_misspelt = |inner: &DeTable<'_>| {
            nearest(name, settings.iter().copied()).is_some()
                && !inner.is_empty()
                && !inner.keys().any(|key| settings.contains(&&**key.get_ref()))
        };
        !is_setting(name) && inner.is_some_and(|inner| !is_misspelt(inner))
    };
    let names: Vec<&str> =
        table.entries.keys().map(|key| &**key.get_ref()).filter(|n| is_target(n)).collect();
    if names.is_empty() {
        return vec![read(&Section::new(table, "target"), None, root, known)];
    }
    for key in table.entries.keys() {
        let name: &str = key.get_ref();
        if is_setting(name) {
            file.faults.add(&key.span(), format!("`{name}` is a setting of [target], but the file has [target.{}] too; expected either [target] or only named ones", names[0]));
        } else if settings.contains(&name) {
            file.faults.add(&key.span(), format!("`{name}` is a setting of [target] and cannot be the name of a target; expected another name for [target.{name}]"));
        } else if !is_target(name) {
            let near = suggestion(name, settings.iter().copied());
            file.faults.add(&key.span(), format!("unknown key `{name}` in [target]; {near}"));
        }
    }
    let mut targets: Vec<(usize, TargetConfig)> = names
        .into_iter()
        .filter_map(|name| {
            let table = table.get(name)?.table(&format!("[target.{name}]"), expected)?;
            if name.trim().is_empty() {
                table.faults.add(&table.span, "the name of a target is empty; expected [target.NAME]");
            }
            let start = table.span.start;
            Some((start, read(&Section::new(table, "target"), Some(name), root, known)))
        })
        .collect();
    targets.sort_by_key(|(offset, _)| *offset);
    targets.into_iter().map(|(_, target)| target).collect()
}

/// Whether the table under a setting's name was meant for a target of that name.
fn means_a_target(table: &Table<'_>, name: &str) -> bool {
    let Some(DeValue::Table(inner)) = table.get(name).map(|value| value.inner) else { return false };
    let takes_table = key(&format!("target.{name}")).is_some_and(Key::takes_table);
    !takes_table || inner.get("command").is_some_and(|command| command.get_ref().is_array())
}

fn read(table: &Section<'_>, name: Option<&str>, root: &Path, known: &Known<'_>) -> TargetConfig {
    let contract = table.get("contract").and_then(|value| contract::of_target(&value, root, known));
    let default = match &contract {
        Some((name, contract)) => defaults_of(name, contract),
        None => TargetConfig::default(),
    };
    let (flags, dry_run_exit) =
        table.get("flags").and_then(|value| common_flags::read(&value, "target.flags")).unwrap_or_default();
    let flags = Flags::declared(flags);
    let conventions = conventions(table, default.conventions, default.contract.is_some(), flags);
    TargetConfig {
        name: name.map(str::to_owned),
        command: table.get("command").and_then(|value| argv(&value)),
        contract: default.contract,
        conventions,
        dry_run_exit,
        build: table.get("build").and_then(|value| argv(&value)),
        home: table.get("home").and_then(|value| home(&value, root)).unwrap_or_default(),
        output_modules: table
            .get("output_modules")
            .and_then(|value| output_modules(&value, root))
            .unwrap_or_default(),
        unknown_command: table.get("unknown_command").and_then(|value| value.boolean()),
        env: table.get("env").and_then(|value| value.variables()).unwrap_or_default(),
        pass_env: table.get("pass_env").and_then(|value| pass_env(&value)).unwrap_or_default(),
        timeout: table.get("timeout").and_then(|value| value.seconds()).unwrap_or(default.timeout),
        network: table.get("network").and_then(|value| value.boolean()).unwrap_or(default.network),
        writes: table.get("writes").and_then(|value| value.boolean()).unwrap_or(default.writes),
        readable: table.get("readable").and_then(|value| readable(&value)).unwrap_or_default(),
        limits: table.get("limits").and_then(|value| limits::read(&value)).unwrap_or(default.limits),
        isolation: table.get("isolation").and_then(|value| isolation(&value)).unwrap_or(default.isolation),
    }
}

/// The conventions of a target, with the defaults of its contract where it has one.
fn conventions(table: &Section<'_>, default: Conventions, has_contract: bool, flags: Flags) -> Conventions {
    let declared = table
        .get("formats")
        .and_then(|value| {
            formats::read(
                &value,
                "target.formats",
                "a table, such as formats.json = [\"--format\", \"json\"]",
            )
        })
        .unwrap_or_default();
    let default_format = default_format(table, &declared);
    let formats = match has_contract {
        true => default.formats.overlaid(declared),
        false => Formats::complete(&declared, default_format),
    };
    let codes = table.get("exit_codes").map(|value| exit_codes(&value));
    let usage = table.get("usage").and_then(|value| usage(&value, codes.as_ref())).unwrap_or(default.usage);
    Conventions {
        formats,
        default_format,
        flags,
        errors: table
            .get("errors")
            .and_then(|value| value.choice(&[("stderr", Stream::Stderr), ("stdout", Stream::Stdout)]))
            .unwrap_or(default.errors),
        schema: table.get("schema").and_then(|value| common_flags::schema(&value)).unwrap_or_default(),
        exit_codes_declared: codes.as_ref().is_some_and(|codes| *codes != Some(default.exit_codes.clone())),
        exit_codes: match codes {
            // After a fault, no exit code of a probe is held against the codes.
            Some(codes) => codes.unwrap_or_else(|| (0..=255).collect()),
            None => with_usage(default.exit_codes, usage),
        },
        usage,
        lacks: table.get("lacks").and_then(|value| lacks(&value)).unwrap_or_default(),
        completions: table
            .get("completions")
            .and_then(|value| common_flags::completions(&value))
            .unwrap_or_default(),
        bundle_install: table
            .get("bundle_install")
            .and_then(|value| common_flags::bundle_install(&value))
            .unwrap_or_default(),
        config_file: table.get("config_file").and_then(|value| config_file(&value)),
        secret: table.get("secret").and_then(|value| secret(&value)),
        env_flags: table.get("env_flags").and_then(|value| env_flags(&value)).unwrap_or_default(),
    }
}

/// Whether runs are confined, by the name of the kind or the one that it had before.
fn isolation(value: &Value<'_>) -> Option<Isolation> {
    if value.inner.as_str() == Some(Isolation::ALIAS.0) {
        return Some(Isolation::ALIAS.1);
    }
    value.choice(&Isolation::NAMED)
}

/// What holds for a target of this contract where its table does not say otherwise.
fn defaults_of(name: &str, contract: &Contract) -> TargetConfig {
    let mut target = TargetConfig { contract: Some(name.to_owned()), ..TargetConfig::default() };
    target.take(contract);
    target
}

/// The format that comes without a flag; the first that there is, when nothing is said.
fn default_format(table: &Section<'_>, declared: &BTreeMap<OutputFormat, Asking>) -> OutputFormat {
    let lacks = |format: &OutputFormat| declared.get(format) == Some(&Asking::Lacking);
    let said = table.get("default_format").and_then(|value| {
        let format = value.choice(&OutputFormat::ALL.map(|format| (format.name(), format)))?;
        if lacks(&format) {
            let name = format.name();
            return value.fault(&format!(
                "`default_format` is {name:?}, and formats.{name} is `false`; expected a format that exists"
            ));
        }
        Some(format)
    });
    let first = || OutputFormat::ALL.into_iter().find(|format| !lacks(format));
    said.or_else(first).unwrap_or(TargetConfig::default().conventions.default_format)
}

/// The code for wrong calls, which has to be among the `codes`, if they are said.
fn usage(value: &Value<'_>, codes: Option<&Option<Vec<i32>>>) -> Option<i32> {
    let code = value.exit_code()?;
    if code == 0 {
        return value.fault("`usage` is 0, which means success; expected the exit code for invalid usage");
    }
    if codes.and_then(Option::as_ref).is_some_and(|codes| !codes.contains(&code)) {
        return value
            .fault(&format!("`usage` is {code}, but `exit_codes` does not contain it; expected it in both"));
    }
    Some(code)
}

/// The default exit codes, with the target's own for wrong calls.
fn with_usage(mut codes: Vec<i32>, usage: i32) -> Vec<i32> {
    let default = TargetConfig::default().conventions.usage;
    codes.iter_mut().filter(|code| **code == default).for_each(|code| *code = usage);
    codes.sort_unstable();
    codes.dedup();
    codes
}

fn exit_codes(value: &Value<'_>) -> Option<Vec<i32>> {
    let elements = value.elements("an array of exit codes from 0 to 255")?;
    let read: Vec<Option<i32>> = elements.iter().map(Value::exit_code).collect();
    let mut codes: Vec<i32> = read.into_iter().collect::<Option<_>>()?;
    if codes.is_empty() {
        return value.fault("`exit_codes` is empty; expected at least one, such as [0, 1, 2]");
    }
    codes.sort_unstable();
    codes.dedup();
    Some(codes)
}

/// Files and folders in `root`.
fn output_modules(value: &Value<'_>, root: &Path) -> Option<Vec<String>> {
    const EXPECTED: &str = "a source file or folder, relative to this file (a string)";
    let elements = value.elements("an array of source files and folders")?;
    let read: Vec<Option<String>> = elements
        .iter()
        .map(|element| {
            let name = element.string(EXPECTED)?.text;
            let path = root.join(&name);
            if !is_below(&name) {
                return element.fault(&format!("{name:?} is not below this file; expected {EXPECTED}"));
            }
            match path.metadata() {
                Ok(_) => Some(name),
                Err(error) => element.fault(&format!("cannot read `{name}`: {error}; expected {EXPECTED}")),
            }
        })
        .collect();
    read.into_iter().collect()
}

/// What the target has nothing of, each once.
fn lacks(value: &Value<'_>) -> Option<Vec<Feature>> {
    let elements = value.elements("an array of features, such as [\"lists\"]")?;
    let mut features = all(elements.iter().map(|element| element.choice(&Feature::NAMED)))?;
    features.dedup();
    Some(features)
}

/// A file below the home.
fn config_file(value: &Value<'_>) -> Option<String> {
    const EXPECTED: &str = "the path of a file in the home folder (a string)";
    let path = value.string(EXPECTED)?.text;
    if path.is_empty() || path.ends_with('/') || !is_below(&path) {
        return value.fault(&format!("{path:?} is not a file in the home folder; expected {EXPECTED}"));
    }
    Some(path)
}

/// The variable of the secret, and the other ways to give it.
fn secret(value: &Value<'_>) -> Option<SecretConfig> {
    let table = value.table("`secret`", "a table, such as { env = \"MYCLI_TOKEN\" }")?;
    let table = Section::new(table, "target.secret");
    let file =
        table.get("file").and_then(|value| common_flags::secret_args(&value, "file", Some(FILE_PLACE)));
    let stdin = table.get("stdin").and_then(|value| common_flags::secret_args(&value, "stdin", None));
    let env = table.require("env", "the variable of the secret, such as env = \"MYCLI_TOKEN\"")?;
    let name = env.string("the name of a variable (a string)")?;
    variable_name(env.faults, &name.text, &name.span);
    Some(SecretConfig { env: name.text, file, stdin })
}

/// Options with the variables that stand for them.
fn env_flags(value: &Value<'_>) -> Option<BTreeMap<String, String>> {
    let table = value.table("`env_flags`", "a table, such as { \"--quiet\" = \"MYCLI_QUIET\" }")?;
    let pairs = table.entries.keys().filter_map(|key| {
        let flag: &str = key.get_ref();
        let is_flag = flag.len() > 1 && flag.starts_with('-') && !flag.contains(char::is_whitespace);
        if !is_flag {
            let expected = "expected an option, such as \"--quiet\"";
            table.faults.add(&key.span(), format!("`{flag}` is not an option; {expected}"));
            return None;
        }
        let name = table.get(flag)?.string("the name of a variable (a string)")?;
        variable_name(table.faults, &name.text, &name.span);
        Some((flag.to_owned(), name.text))
    });
    Some(pairs.collect())
}

/// Returns paths below the home of the user.
fn readable(value: &Value<'_>) -> Option<Vec<PathBuf>> {
    const EXPECTED: &str = "a path that begins with `~/` or `/` (a string)";
    let elements = value.elements("an array of paths, such as [\"~/.config/mycli\"]")?;
    let path = |element: &Value<'_>| {
        let path = element.string(EXPECTED)?.text;
        match path.strip_prefix("~/") {
            // Without a home, none of its files is hidden.
            Some(rest) => Some(std::env::home_dir().unwrap_or_default().join(rest)),
            None if path.starts_with('/') => Some(path.into()),
            None => element.fault(&format!("{path:?} is relative; expected {EXPECTED}")),
        }
    };
    all(elements.iter().map(path))
}

fn pass_env(value: &Value<'_>) -> Option<Vec<String>> {
    let elements = value.elements("an array of variable names")?;
    let names = elements.iter().filter_map(|element| {
        let name = element.string("the name of a variable (a string)")?;
        variable_name(element.faults, &name.text, &name.span);
        Some(name.text)
    });
    Some(names.collect())
}
