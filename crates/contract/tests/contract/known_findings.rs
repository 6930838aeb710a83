//! Tests of conditions and rules that name a known finding of the program.

use super::folder::{document, folder, issues, lines, load};
use agentnative_contract::{Against, Contract, Framing, RunExit, Settings, Validation, Violation};
use serde_json::json;

#[test]
fn a_condition_can_name_a_finding() {
    let conditions = "[[condition]]\nname = \"good\"\nwhat = \"w\"\nexit = 0\nsome = { when = { \"/ok\" = true } }\n\
         [[condition]]\nname = \"lie\"\nwhat = \"w\"\nexit = 0\nsome = { when = { \"/ok\" = false } }\nfinding = \"lies\"\n\
         [[finding]]\nwhat = \"Something else.\"\n\
         [[finding]]\nid = \"lies\"\nwhat = \"It exits with 0.\"\nreference = \"demo 7\"\n";
    let contract =
        load(&[("contract.toml", &document(conditions)), ("s.json", r#"{"type": "object"}"#)]).unwrap();
    let known = |ok: bool, exit: RunExit<'_>| {
        let mut judge = contract.validator();
        judge.push(1, &json!({"ok": ok}));
        let outcome = judge.finish(&exit);
        (outcome.violations.len(), outcome.known.first().map(|known| known.message.clone()))
    };
    let lie = || Some("It exits with 0 (demo 7)".to_owned());
    assert_eq!(known(true, RunExit::with_code(0)), (0, None));
    assert_eq!(known(false, RunExit::with_code(0)), (0, lie()));
    assert_eq!(known(false, RunExit { condition: Some("lie"), ..RunExit::default() }), (0, lie()));
    assert_eq!(known(true, RunExit { condition: Some("lie"), ..RunExit::default() }), (1, None));
    assert_eq!(known(false, RunExit::with_code(1)), (1, None));
    assert_eq!(known(false, RunExit::default()), (0, None));
    assert_eq!(contract.summary().findings, ["Something else.", "It exits with 0 (demo 7)"]);

    let wrong = document(&conditions.replace("finding = \"lies\"", "finding = \"lie\""));
    let found = issues(&load(&[("contract.toml", &wrong), ("s.json", "{}")]).unwrap_err());
    assert_eq!(
        found,
        ["contract.toml:17:11: unknown finding `lie`: no [[finding]] has this id; did you mean `lies`?"]
    );
}

/// A violation of a rule with a finding is a warning with its place; the run is valid.
#[test]
fn a_rule_can_name_a_finding() {
    let rules = "[[rule]]\nid = \"code\"\nwhat = \"It is listed.\"\nat = \"/calls/*/code\"\none_of = [\"A\", 7]\nfinding = \"other\"\n\
         [[rule]]\nid = \"sum\"\nwhat = \"It adds up.\"\ncompare = [\"/sum\", \"=\", { add = [\"/a\", \"/b\"] }]\nfinding = \"adds\"\n\
         [[rule]]\nid = \"mode\"\nwhat = \"It is on.\"\nat = \"/mode\"\none_of = \"on\"\n\
         [[finding]]\nid = \"other\"\nwhat = \"Codes are examples.\"\n\
         [[finding]]\nid = \"adds\"\nwhat = \"Others count more.\"\nreference = \"demo 7\"\n";
    let files = |text: &str| folder(&[("contract.toml", text), ("s.json", r#"{"type": "object"}"#)]);
    let contract = Contract::load(files(&document(rules)).path()).unwrap();
    let text = "{\"calls\": [{\"code\": \"A\"}, {\"code\": 7}, {\"code\": null}, {}],\n \"sum\": 0.3, \"a\": 0.1, \"b\": 0.2, \"mode\": \"on\"}";
    let settings =
        |framing, max_errors, threads| Settings { framing, max_errors, exit: RunExit::default(), threads };
    let validate = |text: &str, settings: Settings<'_>| {
        let mut verdict =
            Validation::new(&contract, settings).validate(text.as_bytes(), &mut |_| ()).unwrap();
        verdict.keep_first(settings.max_errors);
        verdict
    };
    let one = settings(Framing::Document, 9, 1);
    let place = |known: &Violation| {
        (known.finding.as_ref().unwrap().id.clone().unwrap(), known.line, known.column, known.pointer.clone())
    };
    let verdict = validate(text, one);
    assert!(verdict.is_valid() && verdict.known.is_empty());
    let verdict = validate(&text.replace("null", "\"B\"").replace("0.3", "1"), one);
    assert!(verdict.is_valid());
    assert_eq!(
        verdict.known.iter().map(place).collect::<Vec<_>>(),
        [
            ("other".to_owned(), Some(1), Some(49), "/calls/2/code".to_owned()),
            ("adds".to_owned(), Some(2), Some(9), "/sum".to_owned())
        ]
    );
    assert_eq!(verdict.known[0].message, "expected one of \"A\", 7, found `B`: It is listed.");
    assert!(verdict.known[1].message.starts_with("expected /sum = /a + /b, found 1 and 0.3"));
    assert_eq!(verdict.known[1].finding.as_ref().unwrap().to_string(), "Others count more (demo 7)");
    // A violation of a rule without a finding is an error.
    let verdict = validate("{\"mode\": \"off\", \"sum\": 3, \"a\": 1, \"b\": 1}", one);
    assert_eq!((verdict.errors[0].rule.as_str(), verdict.known.len()), ("mode", 1));
    assert_eq!(verdict.errors[0].finding, None);
    // Findings beyond the limit are counted, and they do not use the limit of errors.
    let lines = "{\"sum\": 3, \"a\": 1, \"b\": 1, \"calls\": [{\"code\": \"B\"}, {\"code\": \"C\"}]}\n"
        .repeat(1000)
        + "{\"mode\": \"off\"}\n";
    for (limit, threads) in [(0, 1), (2, 1), (2, 3), (20, 1)] {
        let verdict = validate(&lines, settings(Framing::Lines, limit, threads));
        assert_eq!((verdict.known.len(), verdict.errors.len()), (limit, limit.min(1)));
        assert_eq!(
            (verdict.known.len() as u64 + verdict.omitted.known_count(), verdict.omitted.error_count()),
            (3000, u64::from(limit == 0))
        );
        assert!(!verdict.is_valid());
    }
    let mut values = contract.validator();
    assert_eq!(values.push(1, &json!({"sum": 3, "a": 1, "b": 1})), []);
    let outcome = values.finish(&RunExit::default());
    assert_eq!((outcome.violations.len(), outcome.known[0].pointer.as_str()), (0, "/sum"));
    assert_eq!(values.finish(&RunExit::default()).known, []);
    let rules_shown = contract.summary().rules;
    assert_eq!((rules_shown[0].finding.as_deref(), &rules_shown[2].finding), (Some("other"), &None));
    assert_eq!(
        rules_shown[0].detail,
        ["/calls/*/code is \"A\" or 7", "a violation is a warning: the finding `other`"]
    );

    let wrong =
        document(&rules.replace("finding = \"adds\"", "finding = \"add\"").replace("at = \"/mode\"\n", ""));
    let found = issues(&Contract::load(files(&wrong).path()).unwrap_err());
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("unknown finding `add`") && found[1].contains("has no `at`"), "{found:?}");
}

/// Rules between events can have findings as well, also at the end of a stream.
#[test]
fn a_rule_between_events_can_name_a_finding() {
    let text = lines(
        "[[rule]]\nid = \"named\"\nwhat = \"b names an a.\"\ndefines = { on = \"a\", at = \"/id\" }\nuses = { on = \"b\", at = \"/of\" }\nfinding = \"loose\"\n\
         [[rule]]\nid = \"run\"\nwhat = \"b is last.\"\nstart = \"s\"\nend = \"e\"\nfinding = \"cut\"\n\
         steps = [{ from = [\"s\", \"e\"], on = \"a\", to = \"s\" }, { from = [\"s\", \"e\"], on = \"b\", to = \"e\" }]\n\
         [[finding]]\nid = \"loose\"\nwhat = \"w\"\n[[finding]]\nid = \"cut\"\nwhat = \"w\"\n",
    );
    let contract = load(&[("contract.toml", &text), ("s.json", r#"{"type": "object"}"#)]).unwrap();
    let input = "{\"type\":\"b\",\"of\":1}\n{\"type\":\"a\",\"id\":1}\n{\"type\":\"c\"}\n";
    for threads in [1, 2] {
        let settings = Settings { framing: Framing::Lines, max_errors: 9, exit: RunExit::default(), threads };
        let verdict = Validation::new(&contract, settings).validate(input.as_bytes(), &mut |_| ()).unwrap();
        let known = verdict.known.iter().map(|known| (known.rule.as_str(), known.event, known.against));
        let expected = [("named", Some(1), Against::Stream), ("run", Some(2), Against::Stream)];
        assert!(known.eq(expected), "{:#?}", verdict.known);
        assert!(verdict.errors.iter().all(|error| error.rule == "event-type"), "{:#?}", verdict.errors);
        assert_eq!(verdict.errors.len(), 1);
    }
}
