//! Rules of message extraction and validation, and the related entries of the troubleshooting.

use super::{assistant, event, outcome_of, outcome_of_lines, part, text, tool, user};
use serde_json::{Value, json};

#[test]
fn logic_1_the_last_assistant_message_is_tracked() {
    let outcome =
        outcome_of(&[text("m", "p1", "first"), assistant("m2", json!({})), text("m2", "p2", "second")]);
    assert_eq!(outcome["message"], "second");
    // A late update of an older message does not make it the last one.
    let created = |at: u64| json!({ "time": { "created": at } });
    let outcome = outcome_of(&[
        assistant("m1", created(1)),
        text("m1", "p1", "first"),
        assistant("m2", created(2)),
        text("m2", "p2", "second"),
        assistant("m1", created(1)),
        text("m1", "p1", "first, late"),
    ]);
    assert_eq!(outcome["message"], "second");
}

#[test]
fn logic_2_all_text_parts_of_that_message_are_collected() {
    let outcome = outcome_of(&[text("m", "a", "one"), text("u", "b", "not this"), text("m", "c", "two")]);
    assert_eq!(outcome["message"], "one\ntwo");
    // A part is updated repeatedly: its last text replaces the first at the same position.
    let outcome = outcome_of(&[text("m", "a", "o"), text("m", "c", "two"), text("m", "a", "one")]);
    assert_eq!(outcome["message"], "one\ntwo");
}

#[test]
fn logic_2_a_text_that_comes_before_its_message_is_not_lost() {
    let outcome = outcome_of(&[text("m9", "a", "early"), assistant("m9", json!({}))]);
    assert_eq!(outcome["message"], "early");
    let outcome = outcome_of(&[text("u9", "a", "early"), user("u9")]);
    assert_eq!(outcome["message"], Value::Null);
}

#[test]
fn logic_3_parts_are_joined_with_newlines() {
    let outcome = outcome_of(&[text("m", "a", "a "), text("m", "b", " b"), text("m", "c", "c")]);
    assert_eq!(outcome["message"], "a \n b\nc");
}

#[test]
fn logic_4_the_result_is_trimmed() {
    assert_eq!(outcome_of(&[text("m", "a", "\n\n  Done.\t\n")])["message"], "Done.");
}

#[test]
fn logic_5_the_message_is_absent_when_there_is_none() {
    let outcome = outcome_of(&[]);
    assert!(outcome.get("message").is_none());
}

#[test]
fn validation_empty_and_blank_parts_are_skipped() {
    let outcome = outcome_of(&[text("m", "a", ""), text("m", "b", " \n\t\u{a0}"), text("m", "c", "kept")]);
    assert_eq!(outcome["message"], "kept");
}

#[test]
fn validation_null_and_missing_texts_are_skipped() {
    let missing = part(json!({ "id": "b", "sessionID": "s", "messageID": "m", "type": "text" }));
    let outcome =
        outcome_of(&[text("m", "a", Value::Null), missing, text("m", "n", 5), text("m", "c", "kept")]);
    assert_eq!(outcome["message"], "kept");
    assert!(outcome.get("warnings").is_none());
    assert!(outcome_of(&[text("m", "a", Value::Null)]).get("message").is_none());
}

#[test]
fn validation_special_characters_unicode_and_code_blocks_are_kept() {
    let special = "\"quotes\" \\ back\u{8}slash\n```rust\nfn main() {\n    let é = \"日本 👩‍💻\";\n}\n```\nend";
    assert_eq!(outcome_of(&[text("m", "a", special)])["message"], special);
}

#[test]
fn validation_only_assistant_messages_count() {
    let outcome = outcome_of(&[user("u"), text("u", "p", "the prompt"), text("m", "q", "the answer")]);
    assert_eq!(outcome["message"], "the answer");
    // A user message after the last assistant message does not remove its text.
    let outcome = outcome_of(&[text("m", "q", "the answer"), user("u"), text("u", "p", "the next prompt")]);
    assert_eq!(outcome["message"], "the answer");
}

#[test]
fn deltas_extend_a_text() {
    let delta = |part: &str, delta: &str| {
        let properties =
            json!({ "sessionID": "s", "messageID": "m", "partID": part, "field": "text", "delta": delta });
        event("message.part.delta", properties)
    };
    let reasoning =
        part(json!({ "id": "r", "sessionID": "s", "messageID": "m", "type": "reasoning", "text": "hm" }));
    let cut =
        [reasoning, delta("r", "thinking"), text("m", "a", ""), delta("a", "Mock "), delta("a", "answer")];
    assert_eq!(outcome_of(&cut)["message"], "Mock answer");
    let whole = [&cut[..], &[text("m", "a", "Mock answer.")]].concat();
    assert_eq!(outcome_of(&whole)["message"], "Mock answer.");
}

#[test]
fn troubleshooting_a_missing_message_has_no_placeholder() {
    // No text parts; only text of the user; only blank text; text of an unknown message.
    let cases = [
        vec![],
        vec![user("u"), text("u", "p", "prompt")],
        vec![text("m", "p", "  ")],
        vec![text("elsewhere", "p", "whose?")],
    ];
    for events in cases {
        assert!(outcome_of(&events).get("message").is_none(), "{events:?}");
    }
}

#[test]
fn troubleshooting_an_agent_that_only_used_tools_has_its_calls() {
    let outcome = outcome_of(&[tool("c", "bash", json!({ "status": "completed" }))]);
    assert!(outcome.get("message").is_none());
    assert_eq!(outcome["tool_calls"][0]["name"], "bash");
    assert_eq!(outcome["success"], true);
}

#[test]
fn troubleshooting_special_characters_do_not_corrupt_the_message() {
    // Unescaped quotes make a line malformed; a lone surrogate is replaced, and a NUL is kept.
    let broken = r#"{"type":"message.part.updated","properties":{"part":{"id":"x","text":"say "hi""}}}"#;
    let odd = r#"{"type":"message.part.updated","properties":{"part":{"id":"p","sessionID":"s","messageID":"m","type":"text","text":"a\ud800b\u0000c\udc00"}}}"#;
    let message = assistant("m", json!({})).to_string();
    let outcome = outcome_of_lines(&[message.as_str(), broken, odd]);
    assert_eq!(outcome["message"], "a\u{fffd}b\0c\u{fffd}");
    assert_eq!(outcome["warnings"].as_array().unwrap().len(), 1);
    assert!(serde_json::to_string(&outcome).unwrap().contains("\\u0000"));
}
