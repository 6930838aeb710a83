//! Verdicts on lists of made-up targets: their length, their limits, and what says that there is more.

use crate::made_up::{Answer, Call, PROBES, conforming, data, failure, seen, verdict};
use agentnative::check::judge;
use agentnative::model::{CheckId, CheckResult, OutputFormat, Status, Variant};
use std::cell::Cell;

const CLAMPED: CheckId = CheckId::P7Clamped;
const LIMIT: CheckId = CheckId::P7Limit;

/// A probe of a list in this format, with what `list` says.
fn config(formats: &str, list: &str) -> String {
    format!("[[probe]]\nname = 'log'\nargs = ['log']\nformats = [{formats}]\nlist = {{ {list} }}\n")
}

/// A list of at most 3 items without a limit.
fn in_json() -> String {
    config("'json'", "items = '/data/items', max = 3")
}

/// The limit of a call.
fn limit(call: &Call) -> Option<usize> {
    let at = call.args.iter().position(|arg| arg == "--limit")?;
    call.args[at + 1].parse().ok()
}

/// So many items of a list, by their number, which `document` has in it as `ITEMS`.
fn items(count: usize, document: &str) -> String {
    let items: Vec<String> = (1..=count).map(|id| format!(r#"{{"id":{id},"name":"n{id}"}}"#)).collect();
    format!("{}\n", document.replace("ITEMS", &format!("[{}]", items.join(","))))
}

/// Prints `all` items, 3 without a limit, in this document.
fn lists(all: usize, document: &str) -> impl Fn(&Call) -> Answer {
    move |call| match call.format {
        OutputFormat::Json => data(items(limit(call).unwrap_or(3).min(all), document)),
        _ => data("1  n1\n2  n2\n3  n3\n3 of 9 items\n"),
    }
}

fn is_status(result: &CheckResult, status: Status) {
    assert_eq!(result.status, status, "{}: {} {:?}", result.id, result.message, result.evidence);
}

const TOLD: &str = r#"{"data":{"items":ITEMS,"truncated":true}}"#;
const UNTOLD: &str = r#"{"data":{"items":ITEMS}}"#;

#[test]
fn a_member_of_the_document_says_that_there_is_more() {
    for told in [
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
        // In the object with the items, and above it.
        let above = told.replace(r#""items":ITEMS"#, r#""data":{"items":ITEMS}"#);
        for document in [format!(r#"{{"data":{told}}}"#), above] {
            let result = verdict(CLAMPED, &in_json(), lists(9, &document));
            assert_eq!(result.status, Status::Pass, "{document}: {}", result.message);
        }
    }
    for untold in [
        r#"{"data":{"items":ITEMS}}"#,
        r#"{"data":{"items":ITEMS,"truncated":false,"has_more":false}}"#,
        r#"{"data":{"items":ITEMS,"next":null,"next_cursor":"","cursor":0}}"#,
        r#"{"data":{"items":ITEMS,"total":3,"count":9}}"#,
        r#"{"data":{"items":ITEMS,"query":{"total":9}}}"#,
        r#"{"data":{"items":ITEMS},"first":{"truncated":true}}"#,
        r#"{"data":{"items":ITEMS},"errors":[{"next":"x"}]}"#,
    ] {
        let result = verdict(CLAMPED, &in_json(), lists(9, untold));
        assert_eq!(result.status, Status::Fail, "{untold}: {}", result.message);
        assert_eq!(result.evidence[0].kind, "untold");
    }
    // A bare array has no place for it.
    let result = verdict(CLAMPED, &config("'json'", "items = '', max = 3"), lists(9, "ITEMS"));
    is_status(&result, Status::Fail);
}

#[test]
fn a_line_of_the_text_says_that_there_is_more() {
    let text = config("'text', 'json'", "items = '/data/items', max = 3");
    let of = |stdout: &'static str, stderr: &'static str| {
        verdict(CLAMPED, &text, move |call: &Call| match call.format {
            OutputFormat::Json => {
                let named = items(limit(call).unwrap_or(3).min(9), TOLD).replace("n3", "and 4 more");
                data(named)
            }
            _ => Answer(stdout.to_owned(), stderr.to_owned(), agentnative::run::End::Exited(0)),
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
        let result = of(stdout, stderr);
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
        let result = of(stdout, stderr);
        assert_eq!(result.status, Status::Fail, "{stdout:?} {stderr:?}: {}", result.message);
        assert_eq!(result.evidence[0].format, Some(OutputFormat::Text));
    }
}

#[test]
fn a_list_is_no_longer_than_its_maximum() {
    let longer = |call: &Call| data(items(limit(call).unwrap_or(5), TOLD));
    let result = verdict(CLAMPED, &in_json(), longer);
    is_status(&result, Status::Fail);
    assert_eq!(result.message, "5 items without a limit, but the documented maximum is 3");
    let excerpt = result.evidence[0].excerpt.as_deref().unwrap();
    let (caret, kind) = (result.evidence[0].caret.unwrap(), &result.evidence[0].kind);
    let at: String = excerpt.chars().skip(caret).collect();
    assert!(at.starts_with(r#"{"id":4,"#) && kind == "too-many", "{excerpt}");

    // A document that is too long to be held is counted all the same.
    let long = r#"{"data":{"pad":"PAD","items":ITEMS}}"#.replace("PAD", &"x".repeat(9 << 20));
    let result =
        verdict(CLAMPED, &in_json(), move |call: &Call| data(items(limit(call).unwrap_or(5), &long)));
    is_status(&result, Status::Fail);
    let long = TOLD.replacen('{', &format!("{{\"pad\":\"{}\",", "x".repeat(9 << 20)), 1);
    is_status(&verdict(CLAMPED, &in_json(), lists(9, &long)), Status::Unverified);
}

#[test]
fn what_cannot_be_seen_of_a_list_is_not_decided() {
    let unverified = |config: &str, answer: &dyn Fn(&Call) -> Answer, words: &str| {
        let result = verdict(CLAMPED, config, answer);
        is_status(&result, Status::Unverified);
        assert!(result.message.contains(words), "{}", result.message);
        result.blocked_by.first().map(|cause| cause.id)
    };
    let few = "has 2 items, and no more with `--limit 4`: declare a probe whose list has more than 3";
    assert_eq!(unverified(&in_json(), &lists(2, TOLD), few), None);
    let full = "has 3 items, and no more with `--limit 4`";
    assert_eq!(unverified(&in_json(), &lists(3, UNTOLD), full), None);
    let open = config("'json'", "items = '/data/items'");
    assert_eq!(unverified(&open, &lists(9, TOLD), "declare `list.max`"), None);
    let elsewhere = config("'json'", "items = '/data/rows', max = 3");
    assert_eq!(unverified(&elsewhere, &lists(9, TOLD), "has no array at `/data/rows`"), None);
    let no_json = |call: &Call| match call.format {
        OutputFormat::Json => data("one\n"),
        _ => conforming(call),
    };
    assert_eq!(unverified(&in_json(), &no_json, "see p2-output-json"), Some(CheckId::P2OutputJson));

    // A limit may be refused above the maximum, and at all, which is the affair of the other check.
    let refuses = |from: usize| {
        move |call: &Call| match limit(call) {
            Some(limit) if limit >= from => failure(call, 2, "no such limit"),
            _ => lists(9, UNTOLD)(call),
        }
    };
    assert_eq!(unverified(&in_json(), &refuses(4), "`--limit 4` is rejected, so nothing shows"), None);
    assert_eq!(unverified(&in_json(), &refuses(1), "`--limit 4` is rejected: see p7-limit"), Some(LIMIT));
    is_status(&verdict(LIMIT, &in_json(), refuses(4)), Status::Pass);
    is_status(&verdict(LIMIT, &in_json(), refuses(1)), Status::Warn);
    let lacking = format!("[target]\nflags.limit = false\n{}", in_json());
    assert_eq!(
        unverified(&lacking, &lists(9, UNTOLD), "takes no limit according to the configuration"),
        None
    );

    // The word of the target is enough for a full list.
    let told = |call: &Call| match limit(call) {
        Some(limit) if limit > 3 => failure(call, 2, "no such limit"),
        _ => lists(9, TOLD)(call),
    };
    is_status(&verdict(CLAMPED, &in_json(), told), Status::Pass);
    is_status(&verdict(CLAMPED, &lacking, lists(9, TOLD)), Status::Pass);
}

#[test]
fn a_target_declares_its_lists_or_that_it_has_none() {
    for id in [CLAMPED, LIMIT] {
        let result = verdict(id, PROBES, conforming);
        is_status(&result, Status::Unverified);
        assert!(result.message.starts_with("the help lists the command `list`, but no probe has `list`"));
        let lacks = format!("[target]\nlacks = ['lists']\n{PROBES}");
        is_status(&verdict(id, &lacks, conforming), Status::NotApplicable);
        let mut recording = seen(PROBES, &[id.check()], conforming);
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
    let of = |answer: &dyn Fn(&Call) -> Answer| verdict(LIMIT, &in_json(), answer);
    is_status(&of(&lists(9, TOLD)), Status::Pass);
    is_status(&of(&lists(2, TOLD)), Status::Pass);
    for all in [0, 1] {
        let result = of(&lists(all, TOLD));
        is_status(&result, Status::Unverified);
        assert!(result.message.ends_with("declare a probe whose list has at least 2"), "{}", result.message);
    }
    let counts = |count: fn(usize) -> usize| {
        let result = of(&move |call: &Call| data(items(limit(call).map_or(3, count), TOLD)));
        is_status(&result, Status::Warn);
        assert_eq!(result.evidence[0].kind, "count");
    };
    counts(|_| 3);
    counts(|limit| limit + 1);
    counts(|limit| limit - 1);
    counts(|_| 1);
    let bare = |call: &Call| match limit(call) {
        Some(_) => data("{\"data\":{\"id\":1,\"name\":\"n1\"}}\n"),
        None => lists(9, TOLD)(call),
    };
    assert_eq!(of(&bare).evidence[0].kind, "no-list");
    let prose = |call: &Call| match limit(call) {
        Some(_) => data("n1\n"),
        None => lists(9, TOLD)(call),
    };
    assert_eq!(of(&prose).evidence[0].kind, "no-list");
    let lacking = format!("[target]\nflags.limit = false\n{}", in_json());
    assert_eq!(verdict(LIMIT, &lacking, lists(9, TOLD)).evidence[0].kind, "lacking");
    // Without JSON there is nothing to count, and another check says so.
    let no_json = |_: &Call| data("one\n");
    assert_eq!(of(&no_json).blocked_by[0].id, CheckId::P2OutputJson);
}

#[test]
fn a_limited_list_begins_as_the_whole_one() {
    /// The list of these items, up to the limit from the end.
    fn last(call: &Call, items: &[String]) -> Answer {
        let skipped = limit(call).map_or(0, |limit| items.len().saturating_sub(limit));
        data(format!("{{\"data\":{{\"items\":[{}]}}}}\n", items[skipped..].join(",")))
    }
    let numbered = |item: &dyn Fn(usize) -> String| (1..=3).map(item).collect::<Vec<_>>();
    let calls = Cell::new(0);
    let next = || {
        calls.set(calls.get() + 7);
        calls.get()
    };
    let of = |answer: &dyn Fn(&Call) -> Answer| verdict(LIMIT, &in_json(), answer);
    let differs = |answer: &dyn Fn(&Call) -> Answer| {
        let result = of(answer);
        is_status(&result, Status::Warn);
        assert_eq!(result.evidence[0].kind, "first");
    };
    differs(&|call| last(call, &numbered(&|id| format!("{{\"id\":{id}}}"))));
    differs(&|call| last(call, &numbered(&|id| format!("\"n{id}\""))));
    // Ages that change hide no item that is another by its name.
    let aged = |id: usize| format!("{{\"name\":\"n{id}\",\"kind\":\"a\",\"age\":{}}}", next());
    differs(&|call| last(call, &numbered(&aged)));
    let first = |call: &Call| match limit(call) {
        None => last(call, &numbered(&aged)),
        Some(limit) => {
            data(format!("{{\"data\":{{\"items\":[{}]}}}}\n", numbered(&aged)[..limit.min(3)].join(",")))
        }
    };
    is_status(&of(&first), Status::Pass);
    // Where nothing tells the items apart in all runs, their number alone counts.
    let random = |_: usize| format!("{{\"name\":\"n{}\",\"kind\":\"a\"}}", next());
    is_status(&of(&|call| last(call, &numbered(&random))), Status::Pass);
    // The order of one run alone shows nothing.
    let mut recording = seen(&in_json(), &[LIMIT.check()], |call| last(call, &numbered(&random)));
    recording.fast = true;
    recording.observations.retain(|seen| seen.key.variant == Variant::Plain);
    is_status(&judge(&recording, &[LIMIT.check()]).unwrap().results[0], Status::Unverified);
}
