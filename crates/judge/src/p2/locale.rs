//! `p2-output-locale`: data are the same in each locale.

use super::order::records;
use crate::context::{CheckContext, RunView};
use crate::kit::declare_success;
use crate::verdict::{Assertion, Judgement, Unmet, inconclusive};
use agentnative_core::model::{
    ASCII_LOCALE, CheckId, GERMAN_LOCALE, OutputFormat, Stream, TURKISH_LOCALE, Variant,
};
use agentnative_core::probe::Probe;
use serde_json::Value;
use std::collections::BTreeSet;

/// The locales, each as an index into the environments of `hostile-env`.
const LOCALES: [u8; 3] = [GERMAN_LOCALE, ASCII_LOCALE, TURKISH_LOCALE];

/// Judges `p2-output-locale`: data are the same in each locale.
pub fn judge_locales(context: &CheckContext) -> Judgement {
    let calls = context.data_probes().flat_map(|probe| {
        [OutputFormat::Json, OutputFormat::Jsonl].into_iter().map(move |format| (probe, format))
    });
    let mut is_beyond_ascii = false;
    let mut assertions: Vec<Assertion> = Vec::new();
    for (probe, format) in calls {
        let Some(plain) = context.plain_run(probe, format) else { continue };
        if context.rejects(probe, format) {
            continue;
        }
        is_beyond_ascii |= texts(&plain).is_ok_and(|texts| texts.iter().any(|text| !text.is_ascii()));
        assertions.extend(LOCALES.into_iter().filter_map(|locale| judge_locale(&plain, probe, locale)));
    }
    if !is_beyond_ascii && !assertions.is_empty() && assertions.iter().all(Result::is_ok) {
        return Judgement::NotApplicable("no output contains a character beyond ASCII".to_owned());
    }
    Judgement::from_assertions(assertions, declare_success("json or jsonl"))
}

/// Compares the data in a locale with those of the plain run. `None` if the call is not made in this locale.
fn judge_locale<'a>(plain: &RunView<'a>, probe: &'a Probe, locale: u8) -> Option<Assertion> {
    let context = plain.context;
    let run = context.run_including(probe, plain.format(), (Variant::HostileEnv, locale))?;
    let judge = || {
        plain.parsed()?;
        run.ended()?;
        let expected = texts(plain)?;
        let problem = |run: &RunView| run.scan().first_structural_problem().cloned();
        let usual = context.run(probe, plain.format(), Variant::HostileEnv, GERMAN_LOCALE);
        // Another check judges the usual locales.
        if let Some(usual) = usual.filter(|usual| usual.gave_data() && problem(usual).is_some()) {
            return Err(usual
                .blocked_by(CheckId::P2OutputPure, "the data depend on the locale".into())
                .into());
        }
        let mut others = context.runs_with_same_stdout(probe, plain.format());
        if run.is_truncated() && others.any(|other| other.is_truncated()) {
            return Err(run.truncation_reason().into());
        }
        if run.variant().has_rare_locale(run.observation.key.nth) {
            let has_other_code = run.exited()? != plain.exited()?;
            // A program may reject a locale that is not installed.
            if has_other_code && locale == TURKISH_LOCALE {
                let code = run.exited()?;
                return inconclusive(format!("{} exits with {code}: install tr_TR.UTF-8", run.label()));
            }
            if has_other_code {
                let detail =
                    format!("exits with {} in this locale, expected {}", run.exited()?, plain.exited()?);
                return run.failed_at_reason("exit-code", Stream::Stderr, detail);
            }
            if let Some(problem) = problem(&run) {
                let detail = format!("stdout is not valid in this locale: {}", problem.message);
                return run.failed_at("not-data", Stream::Stdout, problem.position, detail);
            }
        }
        run.usable()?;
        let found = texts(&run)?;
        if altered(&expected, &expected, &found, locale).is_none() {
            return Ok(());
        }
        // The difference may have another cause: another condition of the same run, or chance.
        let single = plain.observation.key.with_condition((Variant::HostileEnv, locale));
        let run = context.run_or_request(&single, std::slice::from_ref(&single))?;
        let (mut steady, mut known) = (expected.clone(), expected);
        for again in context.repeated_runs(probe, plain.format())? {
            let again = texts(&again)?;
            steady.retain(|text| again.contains(text));
            known.extend(again);
        }
        match altered(&steady, &known, &texts(&run)?, locale) {
            Some(detail) => run.failed_at_start("altered", Stream::Stdout, detail),
            None => Ok(()),
        }
    };
    Some(judge())
}

/// Returns a sentence on the first text of `found` that the locale altered; `None` if there is no such text. `steady` are
/// the texts of all runs in the usual locale, and `known` those of any of these runs.
fn altered(
    steady: &BTreeSet<String>,
    known: &BTreeSet<String>,
    found: &BTreeSet<String>,
    locale: u8,
) -> Option<String> {
    let short = |text: &str| strict_json::sanitize::sanitize_capped(text, MAX_QUOTED);
    let mut new = found.difference(known);
    match locale {
        ASCII_LOCALE => {
            let lost = steady.difference(found).find(|text| !text.is_ascii())?;
            Some(format!("`{}` is not printed in this locale", short(lost)))
        }
        GERMAN_LOCALE => {
            let text = new.find(|text| text.contains(',') && known.contains(&text.replace(',', ".")))?;
            Some(format!("`{}` is printed in this locale, expected a decimal point", short(text)))
        }
        _ => {
            let text = new.find(|text| text.contains(['ı', 'İ']))?;
            Some(format!("`{}` is printed in this locale, expected an unchanged letter i", short(text)))
        }
    }
}

/// Maximum length of a text that a message quotes, in characters.
const MAX_QUOTED: usize = 60;

/// Returns the keys and texts of the data on stdout.
fn texts(run: &RunView) -> Result<BTreeSet<String>, Unmet> {
    let mut texts = BTreeSet::new();
    for tape in records(run)? {
        tape.root().iter().for_each(|root| collect(&root.to_value(), &mut texts));
    }
    Ok(texts)
}

fn collect(value: &Value, texts: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            texts.insert(text.clone());
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(members) => {
            texts.extend(members.keys().cloned());
            members.values().for_each(|member| collect(member, texts));
        }
        _ => {}
    }
}
