//! Checks of lists: the number of items with and without a limit, and whether truncation is reported.

use super::listing::Listing;
use super::truncation;
use crate::context::{CheckContext, RunView};
use crate::undeclared::UndeclaredFeature;
use crate::verdict::{Assertion, Finding, Judgement, Reason, SKIPPED_BY_FAST, Unmet, doubt, inconclusive};
use agentnative_contract::counted;
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::{CommonOption, Feature, FormatFlag, ListConfig};
use agentnative_core::model::{Case, CheckId, OutputFormat, Stream};
use agentnative_core::probe::Probe;
use serde_json::Value;
use std::collections::BTreeSet;

/// Words in the names of commands that print lists.
const VERBS: [&str; 4] = ["list", "ls", "search", "find"];

/// Judges `p7-clamped`: a list has a maximum length, and reports omitted items.
pub fn clamped(context: &CheckContext) -> Judgement {
    judge_lists(context, |probe, list| judge_bound(context, probe, list), decided_by_one)
}

/// Combines the assertions about several lists. If everything passes for one list, inconclusive assertions about the
/// others are dropped: one list that is long enough shows the maximum. Failures are kept.
fn decided_by_one(lists: Vec<Vec<Assertion>>) -> Vec<Assertion> {
    let is_shown = |list: &Vec<Assertion>| !list.is_empty() && list.iter().all(Result::is_ok);
    let one_is_enough = lists.iter().any(is_shown);
    let mut assertions: Vec<Assertion> = lists.into_iter().flatten().collect();
    assertions.retain(|assertion| !one_is_enough || !matches!(assertion, Err(Unmet::Inconclusive(_))));
    assertions
}

/// Judges `p7-limit`: `--limit N` prints the first N items of a list.
pub fn limit(context: &CheckContext) -> Judgement {
    judge_lists(
        context,
        |probe, list| {
            let assertions = judge_limit(context, probe, list).into_iter();
            // The option of an explored command may have other values, or another meaning.
            let is_certain = |finding: &Finding| {
                probe.explored.is_none() || ["count", "first"].contains(&&*finding.evidence.kind)
            };
            assertions.map(|assertion| doubt(assertion, is_certain)).collect()
        },
        |lists| lists.into_iter().flatten().collect(),
    )
}

/// Calls `each` for each probe that prints a list. Combines the assertions about all lists with `combine`, and returns
/// the judgement. If there is no such probe, the judgement says what to declare.
fn judge_lists<'a>(
    context: &'a CheckContext<'a>,
    each: impl Fn(&'a Probe, &'a ListConfig) -> Vec<Assertion>,
    combine: impl Fn(Vec<Vec<Assertion>>) -> Vec<Assertion>,
) -> Judgement {
    let mut lists = context.sources().filter_map(|probe| Some((probe, probe.call.list.as_ref()?))).peekable();
    if lists.peek().is_some() {
        return Judgement::from_assertions(
            combine(lists.map(|(probe, list)| each(probe, list)).collect()),
            "",
        );
    }
    let undeclared = UndeclaredFeature {
        feature: Feature::Lists,
        words: &VERBS,
        no_probe: "no probe has `list`",
        declare: "one with `list = { items = \"/data/items\", max = 100 }`",
        lacking: "the target has no lists",
        does: "lists",
    };
    undeclared.judgement(context)
}

/// Returns the list that a probe prints in json without a limit. Fails with the reason if it is not available.
fn list_without_limit<'a>(
    context: &'a CheckContext<'a>,
    probe: &'a Probe,
    list: &'a ListConfig,
) -> Result<Listing<'a>, Reason> {
    let plain = context.plain_run(probe, OutputFormat::Json);
    Listing::parse(plain.ok_or_else(|| format!("{} was not run in json", probe.name))?, list)
}

/// Returns the json run of a probe with an option such as `--limit 2`; `None` if it was not made.
fn run_with_limit<'a>(context: &'a CheckContext<'a>, probe: &'a Probe, limit: u64) -> Option<RunView<'a>> {
    context.plain_run(
        context.derived_for_case(DerivedKind::Limit, probe, &Case::Limit(limit))?,
        OutputFormat::Json,
    )
}

/// Returns the arguments for a limit, such as `--limit 2`, in backticks for a message.
fn spelling(context: &CheckContext, probe: &Probe, limit: u64) -> String {
    let args = probe.common_option(CommonOption::Limit, context.profile).args().unwrap_or_default();
    format!("`{}`", CommonOption::Limit.with_value(args, &limit.to_string()).join(" "))
}

/// True if the target rejects the limit of a run: the call exits with another code than its probe expects.
fn is_rejected(run: &RunView) -> bool {
    run.exit().is_some() && run.exit() != run.probe.exit
}

fn judge_bound<'a>(context: &'a CheckContext<'a>, probe: &'a Probe, list: &'a ListConfig) -> Vec<Assertion> {
    let Some(max) = list.max else {
        return vec![inconclusive(format!(
            "the documented maximum of the list of {} is unknown: declare `list.max`",
            probe.name
        ))];
    };
    let plain = match list_without_limit(context, probe, list) {
        Ok(plain) => plain,
        Err(reason) => return vec![inconclusive(reason)],
    };
    if plain.count > max {
        let detail =
            format!("{} without a limit, but the documented maximum is {max}", counted(plain.count, "item"));
        return vec![plain.run.failed_at_pointer("too-many", &plain.item_pointer(max), detail)];
    }
    match omits_items(context, probe, list, &plain, max) {
        Ok(()) => {
            let text = context.plain_run(probe, OutputFormat::Text);
            std::iter::once(reports_truncation(context, &plain, max))
                .chain(text.map(|text| text_reports_truncation(&text, &plain)))
                .collect()
        }
        Err(reason) => vec![inconclusive(reason)],
    }
}

/// Passes if the list has more items than the call prints without a limit. This is shown by a call with a limit above
/// `max`, or by the document itself, such as with `"truncated": true`.
fn omits_items<'a>(
    context: &'a CheckContext<'a>,
    probe: &'a Probe,
    list: &'a ListConfig,
    plain: &Listing,
    max: u64,
) -> Result<(), Reason> {
    let more = (|| {
        let run = run_with_limit(context, probe, max + 1).ok_or_else(|| no_limit(context, probe))?;
        if is_rejected(&run) {
            return Err(limit_rejected(context, probe, &run, max + 1));
        }
        let larger = Listing::parse(run, list)?;
        if larger.count > plain.count {
            return Ok(());
        }
        Err(format!(
            "{} has {}, and not more with {}: declare a probe with a list of more than {max}",
            plain.run.label(),
            counted(plain.count, "item"),
            spelling(context, probe, max + 1)
        )
        .into())
    })();
    // If the limit cannot be raised, the target's own statement is enough for a full list.
    if plain.count == max && truncation::in_document(plain) == Some(true) { Ok(()) } else { more }
}

fn no_limit(context: &CheckContext, probe: &Probe) -> Reason {
    match probe.common_option(CommonOption::Limit, context.profile) {
        FormatFlag::Absent => format!(
            "{} takes no limit according to the configuration, so it is unknown whether items are omitted",
            probe.name
        ),
        _ => format!("{} was not run with a limit", probe.name),
    }
    .into()
}

/// Returns the reason why nothing is known about a list: a limit above the maximum is rejected. This is allowed, unless
/// the target also rejects lower limits, which another check reports.
fn limit_rejected(context: &CheckContext, probe: &Probe, run: &RunView, limit: u64) -> Reason {
    let what = format!("{} is rejected", spelling(context, probe, limit));
    if run_with_limit(context, probe, 1).is_some_and(|run| is_rejected(&run)) {
        return run.blocked_by(CheckId::P7Limit, what);
    }
    format!("{what}, so it is unknown whether {} omits items", probe.name).into()
}

fn reports_truncation(context: &CheckContext, plain: &Listing, max: u64) -> Assertion {
    match truncation::in_document(plain) {
        Some(true) => Ok(()),
        Some(false) => {
            let detail = format!(
                "{} of a longer list ({} returns more), but no member such as `truncated` or `next_cursor` reports it",
                counted(plain.count, "item"),
                spelling(context, plain.run.probe, max + 1)
            );
            plain.run.failed_at_pointer("untold", plain.pointer(), detail)
        }
        None => inconclusive(format!("{} is too long to be searched", plain.run.label())),
    }
}

fn text_reports_truncation(text: &RunView, plain: &Listing) -> Assertion {
    text.usable()?;
    match truncation::in_text(text, plain) {
        Some(true) => Ok(()),
        Some(false) => {
            let detail = format!(
                "the list has more than {}, but no line such as `{} of more, use --limit` reports it",
                counted(plain.count, "item"),
                plain.count
            );
            text.failed_at_start("untold", Stream::Stdout, detail)
        }
        None => inconclusive(format!("{} is too long to be searched", text.label())),
    }
}

fn judge_limit<'a>(context: &'a CheckContext<'a>, probe: &'a Probe, list: &'a ListConfig) -> Vec<Assertion> {
    let plain = match list_without_limit(context, probe, list) {
        Ok(plain) => plain,
        Err(reason) => return vec![inconclusive(reason)],
    };
    if probe.common_option(CommonOption::Limit, context.profile) == &FormatFlag::Absent {
        let detail = "the configuration has `flags.limit = false`; expected an option that limits the list";
        return vec![plain.run.failed("lacking", detail)];
    }
    let again: Vec<Listing> = context
        .runs_of(probe)
        .filter(|run| run.format() == OutputFormat::Json && run.is_repetition())
        .filter_map(|run| Listing::parse(run, list).ok())
        .collect();
    let available = again.iter().map(|listing| listing.count).fold(plain.count, u64::min);
    let mut assertions = Vec::new();
    for limit in [1, 2] {
        let Some(run) = run_with_limit(context, probe, limit) else {
            assertions.push(inconclusive(no_limit(context, probe)));
            continue;
        };
        let spelling = spelling(context, probe, limit);
        if is_rejected(&run) {
            let (exit, expected) = (run.exit().unwrap_or_default(), probe.exit.unwrap_or_default());
            let detail = format!(
                "{spelling} is rejected: exited with {exit}, expected {expected}; declare another spelling as `flags.limit`"
            );
            assertions.push(run.failed_at_reason("refused", Stream::Stderr, detail));
            break;
        }
        assertions.push(match Listing::parse(run, list) {
            Ok(limited) if limited.count > limit || limited.count < limit.min(available) => {
                let detail = format!("{} with {spelling}", counted(limited.count, "item"));
                run.failed_at_pointer("count", limited.pointer(), detail)
            }
            Ok(limited) => same_first_item(&plain, &again, &limited, &spelling),
            Err(_) if run.why_unusable().is_none() => {
                let detail = format!(
                    "with {spelling}, stdout has no list at {:?}; without it, stdout has one",
                    list.items
                );
                run.failed_at_start("no-list", Stream::Stdout, detail)
            }
            Err(reason) => inconclusive(reason),
        });
    }
    let held = assertions.iter().all(Result::is_ok);
    if held && available < 2 {
        assertions.push(inconclusive(format!(
            "{} has {}: declare a probe with a list of at least 2",
            plain.run.label(),
            counted(available, "item")
        )));
    }
    assertions
}

/// Passes if a limited list begins with the same item as the list without a limit. If the order of the list changes
/// between the repetitions `again`, it also passes.
fn same_first_item(plain: &Listing, again: &[Listing], limited: &Listing, spelling: &str) -> Assertion {
    let (Some(items), Some(cut)) = (plain.items(), limited.items()) else { return Ok(()) };
    let (Some(first), Some(cut)) = (items.first(), cut.first()) else { return Ok(()) };
    if first == cut {
        return Ok(());
    }
    let lists: Option<Vec<&[Value]>> = again.iter().map(Listing::items).collect();
    let Some(lists) = lists.filter(|lists| !lists.is_empty()) else { return inconclusive(SKIPPED_BY_FAST) };
    let differs = match identities(items, &lists) {
        keys if !keys.is_empty() => keys.into_iter().any(|key| first.get(key) != cut.get(key)),
        _ => lists.iter().all(|list| *list == items),
    };
    if !differs {
        return Ok(());
    }
    let detail = format!("with {spelling}, the list begins with another item than without it");
    limited.run.failed_at_pointer("first", &limited.item_pointer(0), detail)
}

/// Returns the keys that identify the items of a list, such as `id`: their values are distinct in `items`, and they are
/// equal and in the same order in each of `lists`.
fn identities<'v>(items: &'v [Value], lists: &[&[Value]]) -> Vec<&'v str> {
    let keys = items.first().and_then(Value::as_object).into_iter().flat_map(|first| first.keys());
    let column = |list: &[Value], key: &str| -> Option<Vec<String>> {
        list.iter().map(|item| Some(item.get(key)?.to_string())).collect()
    };
    keys.map(String::as_str)
        .filter(|key| {
            let Some(own) = column(items, key) else { return false };
            let distinct: BTreeSet<&String> = own.iter().collect();
            distinct.len() == own.len() && lists.iter().all(|list| column(list, key).as_ref() == Some(&own))
        })
        .collect()
}
