//! Verdicts on the lists of simulated targets: their length, their limits, and the notice that a list is incomplete.

use crate::simulated_target::{Call, CallResult, PROBES, conforming, failure, record, success, verdict};
use agentnative::check::judge;
use agentnative::model::{CheckId, CheckResult, OutputFormat, Status, Variant};
use std::cell::Cell;

const CLAMPED: CheckId = CheckId::P7Clamped;
const LIMIT: CheckId = CheckId::P7Limit;

/// Returns a probe with these formats and this table `list`.
fn config(formats: &str, list: &str) -> String {
    format!("[[probe]]\nname = 'log'\nargs = ['log']\nformats = [{formats}]\nlist = {{ {list} }}\n")
}

/// Returns the probe of a list in json that has at most 3 items without a limit.
fn json_config() -> String {
    config("'json'", "items = '/data/items', max = 3")
}

/// Returns the value of `--limit`.
fn limit(call: &Call) -> Option<usize> {
    let position = call.args.iter().position(|arg| arg == "--limit")?;
    call.args[position + 1].parse().ok()
}

/// Replaces `ITEMS` in `document` by an array of `count` numbered items.
fn with_items(count: usize, document: &str) -> String {
    let items: Vec<String> = (1..=count).map(|id| format!(r#"{{"id":{id},"name":"n{id}"}}"#)).collect();
    format!("{}\n", document.replace("ITEMS", &format!("[{}]", items.join(","))))
}

/// A target with `total` items that prints 3 of them without a limit.
fn lists(total: usize, document: &str) -> impl Fn(&Call) -> CallResult {
    move |call| match call.format {
        OutputFormat::Json => success(with_items(limit(call).unwrap_or(3).min(total), document)),
        _ => success("1  n1\n2  n2\n3  n3\n3 of 9 items\n"),
    }
}

fn assert_status(result: &CheckResult, status: Status) {
    assert_eq!(result.status, status, "{}: {} {:?}", result.id, result.message, result.evidence);
}

const WITH_NOTICE: &str = r#"{"data":{"items":ITEMS,"truncated":true}}"#;
const WITHOUT_NOTICE: &str = r#"{"data":{"items":ITEMS}}"#;

#[test]
fn a_member_of_the_document_states_that_there_are_more_items() {
    for notice in [
        r#"{"items":ITEMS,"truncated":true}"#,
        r#"{"items":ITEMS,"has_more":true}"#,
        r#"{"items":ITEMS,"hasMore":true}"#,
        r#"{"items":ITEMS,"next":{"page":2}}"#,
        r#"{"items":ITEMS,"next_cursor":"b"}"#,
        r#"{"items":ITEMS,"cursor":7}"#,
        r#"{"items":ITEMS,"continue":"c"}"#,
        r#"{"items":ITEMS,"nextPageToken":"c"}"#,
        r#"{"items":ITEMS,"total":4}"#,
        r#"{"items":ITEMS,"metadata":{"remainingItemCount":1}}"#,
        r#"{"items":ITEMS,"page_info":{"has_next_page":true}}"#,
    ] {
        // The notice is in the object with the items, or in its parent.
        let in_parent = notice.replace(r#""items":ITEMS"#, r#""data":{"items":ITEMS}"#);
        for document in [format!(r#"{{"data":{notice}}}"#), in_parent] {
            let result = verdict(CLAMPED, &json_config(), lists(9, &document));
            assert_eq!(result.status, Status::Pass, "{document}: {}", result.message);
        }
    }
    for without_notice in [
        r#"{"data":{"items":ITEMS}}"#,
        r#"{"data":{"items":ITEMS,"truncated":false,"has_more":false}}"#,
        r#"{"data":{"items":ITEMS,"next":null,"next_cursor":"","cursor":0}}"#,
        r#"{"data":{"items":ITEMS,"total":3,"count":9}}"#,
        r#"{"data":{"items":ITEMS,"query":{"total":9}}}"#,
        r#"{"data":{"items":ITEMS},"first":{"truncated":true}}"#,
        r#"{"data":{"items":ITEMS},"errors":[{"next":"x"}]}"#,
    ] {
        let result = verdict(CLAMPED, &json_config(), lists(9, without_notice));
        assert_eq!(result.status, Status::Fail, "{without_notice}: {}", result.message);
        assert_eq!(result.evidence[0].kind, "untold");
    }
    // A bare array cannot have a notice.
    let result = verdict(CLAMPED, &config("'json'", "items = '', max = 3"), lists(9, "ITEMS"));
    assert_status(&result, Status::Fail);
}

#[test]
fn a_line_of_text_states_that_there_are_more_items() {
    let text = config("'text', 'json'", "items = '/data/items', max = 3");
    let verdict_on = |stdout: &'static str, stderr: &'static str| {
        verdict(CLAMPED, &text, move |call: &Call| match call.format {
            OutputFormat::Json => {
                let named =
                    with_items(limit(call).unwrap_or(3).min(9), WITH_NOTICE).replace("n3", "and 4 more");
                success(named)
            }
            _ => CallResult(stdout.to_owned(), stderr.to_owned(), agentnative::run::RunEnd::Exited(0)),
        })
    };
    for (stdout, stderr) in [
        ("1  n1\n2  n2\n3  x\n\n3 of 9\n", ""),
        ("Showing 3 items\n1  n1\n2  n2\n3  x\n", ""),
        ("1  n1\n2  n2\n3  x\n… and 6 more\n", ""),
        ("1  n1\n2  n2\n3  x\n...\n", ""),
        ("First 3:\n1  n1\n2  n2\n3  x\n", ""),
        ("1  n1\n2  n2\n3  x\n", "log: output truncated\n"),
        ("1  n1\n2  n2\n3  x\n", "use --limit to change\n"),
    ] {
        let result = verdict_on(stdout, stderr);
        assert_eq!(result.status, Status::Pass, "{stdout:?} {stderr:?}: {}", result.message);
    }
    for (stdout, stderr) in [
        ("ID  NAME\n1  n1\n2  n2\n3  x\n", ""),
        ("1  n1\n2  n2\n3  x\n3 items\n", ""),
        ("1  n1\n2  n2\n3  x\n3 of 3\n", ""),
        // An item is not a notice.
        ("1  n1\n2  n2\n3  and 4 more\n", ""),
        ("", "reading\n"),
    ] {
        let result = verdict_on(stdout, stderr);
        assert_eq!(result.status, Status::Fail, "{stdout:?} {stderr:?}: {}", result.message);
        assert_eq!(result.evidence[0].format, Some(OutputFormat::Text));
    }
}

#[test]
fn a_list_is_no_longer_than_its_maximum() {
    let with_5_items = |call: &Call| success(with_items(limit(call).unwrap_or(5), WITH_NOTICE));
    let result = verdict(CLAMPED, &json_config(), with_5_items);
    assert_status(&result, Status::Fail);
    assert_eq!(result.message, "5 items without a limit, but the documented maximum is 3");
    let excerpt = result.evidence[0].excerpt.as_deref().unwrap();
    let (caret, kind) = (result.evidence[0].caret.unwrap(), &result.evidence[0].kind);
    let from_caret: String = excerpt.chars().skip(caret).collect();
    assert!(from_caret.starts_with(r#"{"id":4,"#) && kind == "too-many", "{excerpt}");

    // The items of a document that exceeds the memory limit are counted nevertheless.
    let long = r#"{"data":{"pad":"PAD","items":ITEMS}}"#.replace("PAD", &"x".repeat(9 << 20));
    let result = verdict(CLAMPED, &json_config(), move |call: &Call| {
        success(with_items(limit(call).unwrap_or(5), &long))
    });
    assert_status(&result, Status::Fail);
    let long = WITH_NOTICE.replacen('{', &format!("{{\"pad\":\"{}\",", "x".repeat(9 << 20)), 1);
    assert_status(&verdict(CLAMPED, &json_config(), lists(9, &long)), Status::Unverified);
}

#[test]
fn a_list_without_sufficient_evidence_is_unverified() {
    let assert_unverified = |config: &str, answer: &dyn Fn(&Call) -> CallResult, part: &str| {
        let result = verdict(CLAMPED, config, answer);
        assert_status(&result, Status::Unverified);
        assert!(result.message.contains(part), "{}", result.message);
        result.blocked_by.first().map(|cause| cause.id)
    };
    let no_more_items =
        "has 2 items, and not more with `--limit 4`: declare a probe with a list of more than 3";
    assert_eq!(assert_unverified(&json_config(), &lists(2, WITH_NOTICE), no_more_items), None);
    let full_list = "has 3 items, and not more with `--limit 4`";
    assert_eq!(assert_unverified(&json_config(), &lists(3, WITHOUT_NOTICE), full_list), None);
    let without_max = config("'json'", "items = '/data/items'");
    assert_eq!(assert_unverified(&without_max, &lists(9, WITH_NOTICE), "declare `list.max`"), None);
    let other_pointer = config("'json'", "items = '/data/rows', max = 3");
    assert_eq!(
        assert_unverified(&other_pointer, &lists(9, WITH_NOTICE), "has no array at `/data/rows`"),
        None
    );
    let no_json = |call: &Call| match call.format {
        OutputFormat::Json => success("one\n"),
        _ => conforming(call),
    };
    assert_eq!(
        assert_unverified(&json_config(), &no_json, "see p2-output-json"),
        Some(CheckId::P2OutputJson)
    );

    // A target may reject limits above the maximum. Rejection of all limits is reported by the other check.
    let rejects_limits = |min_rejected: usize| {
        move |call: &Call| match limit(call) {
            Some(limit) if limit >= min_rejected => failure(call, 2, "no such limit"),
            _ => lists(9, WITHOUT_NOTICE)(call),
        }
    };
    assert_eq!(
        assert_unverified(&json_config(), &rejects_limits(4), "`--limit 4` is rejected, so it is unknown"),
        None
    );
    assert_eq!(
        assert_unverified(&json_config(), &rejects_limits(1), "`--limit 4` is rejected: see p7-limit"),
        Some(LIMIT)
    );
    assert_status(&verdict(LIMIT, &json_config(), rejects_limits(4)), Status::Pass);
    assert_status(&verdict(LIMIT, &json_config(), rejects_limits(1)), Status::Warn);
    let without_limit_option = format!("[target]\nflags.limit = false\n{}", json_config());
    assert_eq!(
        assert_unverified(
            &without_limit_option,
            &lists(9, WITHOUT_NOTICE),
            "takes no limit according to the configuration"
        ),
        None
    );

    // The notice is sufficient evidence for a full list.
    let with_notice = |call: &Call| match limit(call) {
        Some(limit) if limit > 3 => failure(call, 2, "no such limit"),
        _ => lists(9, WITH_NOTICE)(call),
    };
    assert_status(&verdict(CLAMPED, &json_config(), with_notice), Status::Pass);
    assert_status(&verdict(CLAMPED, &without_limit_option, lists(9, WITH_NOTICE)), Status::Pass);
}

#[test]
fn a_target_has_to_declare_its_lists_or_that_it_has_none() {
    for id in [CLAMPED, LIMIT] {
        let result = verdict(id, PROBES, conforming);
        assert_status(&result, Status::Unverified);
        assert!(result.message.starts_with("the help lists the command `list`, but no probe has `list`"));
        let lacks = format!("[target]\nlacks = ['lists']\n{PROBES}");
        assert_status(&verdict(id, &lacks, conforming), Status::NotApplicable);
        let mut recording = record(PROBES, &[id.check()], conforming);
        for (command, status) in [
            ("user-list", Status::Unverified),
            ("search", Status::Unverified),
            ("listen", Status::NotApplicable),
        ] {
            recording.profile.commands = vec!["add".to_owned(), command.to_owned()];
            let result = judge(&recording, &[id.check()]).unwrap().results.remove(0);
            assert_eq!(result.status, status, "{command}: {}", result.message);
        }
    }
}

#[test]
fn a_limit_is_the_number_of_items() {
    let verdict_of = |answer: &dyn Fn(&Call) -> CallResult| verdict(LIMIT, &json_config(), answer);
    assert_status(&verdict_of(&lists(9, WITH_NOTICE)), Status::Pass);
    assert_status(&verdict_of(&lists(2, WITH_NOTICE)), Status::Pass);
    for total in [0, 1] {
        let result = verdict_of(&lists(total, WITH_NOTICE));
        assert_status(&result, Status::Unverified);
        assert!(result.message.ends_with("declare a probe with a list of at least 2"), "{}", result.message);
    }
    let assert_wrong_count = |count: fn(usize) -> usize| {
        let result =
            verdict_of(&move |call: &Call| success(with_items(limit(call).map_or(3, count), WITH_NOTICE)));
        assert_status(&result, Status::Warn);
        assert_eq!(result.evidence[0].kind, "count");
    };
    assert_wrong_count(|_| 3);
    assert_wrong_count(|limit| limit + 1);
    assert_wrong_count(|limit| limit - 1);
    assert_wrong_count(|_| 1);
    let single_item = |call: &Call| match limit(call) {
        Some(_) => success("{\"data\":{\"id\":1,\"name\":\"n1\"}}\n"),
        None => lists(9, WITH_NOTICE)(call),
    };
    assert_eq!(verdict_of(&single_item).evidence[0].kind, "no-list");
    let prose = |call: &Call| match limit(call) {
        Some(_) => success("n1\n"),
        None => lists(9, WITH_NOTICE)(call),
    };
    assert_eq!(verdict_of(&prose).evidence[0].kind, "no-list");
    let without_limit_option = format!("[target]\nflags.limit = false\n{}", json_config());
    assert_eq!(verdict(LIMIT, &without_limit_option, lists(9, WITH_NOTICE)).evidence[0].kind, "lacking");
    // Missing JSON is reported by another check.
    let no_json = |_: &Call| success("one\n");
    assert_eq!(verdict_of(&no_json).blocked_by[0].id, CheckId::P2OutputJson);
}

#[test]
fn a_limited_list_has_the_first_items_of_the_complete_list() {
    /// Returns the last items, as many as the limit allows.
    fn last_items(call: &Call, items: &[String]) -> CallResult {
        let skipped = limit(call).map_or(0, |limit| items.len().saturating_sub(limit));
        success(format!("{{\"data\":{{\"items\":[{}]}}}}\n", items[skipped..].join(",")))
    }
    let numbered = |item: &dyn Fn(usize) -> String| (1..=3).map(item).collect::<Vec<_>>();
    let calls = Cell::new(0);
    let next_value = || {
        calls.set(calls.get() + 7);
        calls.get()
    };
    let verdict_of = |answer: &dyn Fn(&Call) -> CallResult| verdict(LIMIT, &json_config(), answer);
    let assert_other_items = |answer: &dyn Fn(&Call) -> CallResult| {
        let result = verdict_of(answer);
        assert_status(&result, Status::Warn);
        assert_eq!(result.evidence[0].kind, "first");
    };
    assert_other_items(&|call| last_items(call, &numbered(&|id| format!("{{\"id\":{id}}}"))));
    assert_other_items(&|call| last_items(call, &numbered(&|id| format!("\"n{id}\""))));
    // Changing ages do not hide that an item has another name.
    let with_age = |id: usize| format!("{{\"name\":\"n{id}\",\"kind\":\"a\",\"age\":{}}}", next_value());
    assert_other_items(&|call| last_items(call, &numbered(&with_age)));
    let first_items = |call: &Call| match limit(call) {
        None => last_items(call, &numbered(&with_age)),
        Some(limit) => success(format!(
            "{{\"data\":{{\"items\":[{}]}}}}\n",
            numbered(&with_age)[..limit.min(3)].join(",")
        )),
    };
    assert_status(&verdict_of(&first_items), Status::Pass);
    // If no member identifies the items in all runs, only their number is compared.
    let random = |_: usize| format!("{{\"name\":\"n{}\",\"kind\":\"a\"}}", next_value());
    assert_status(&verdict_of(&|call| last_items(call, &numbered(&random))), Status::Pass);
    // The order of items in a single run is no evidence.
    let mut recording = record(&json_config(), &[LIMIT.check()], |call| last_items(call, &numbered(&random)));
    recording.fast = true;
    recording.observations.retain(|run| run.key.variant == Variant::Plain);
    assert_status(&judge(&recording, &[LIMIT.check()]).unwrap().results[0], Status::Unverified);
}
