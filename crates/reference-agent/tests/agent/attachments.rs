//! Attached files and images.

use crate::support::{TestEnv, script, text_turn};
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0";

#[test]
fn files_and_images_are_distinguished() {
    let env = TestEnv::new();
    env.file("a.txt", "text");
    env.file("b.png", PNG);
    let turns = script(&[text_turn("seen")]);
    let document = env.play("agent-js", &turns, &["--attach", "a.txt", "--attach", "b.png"]).document();
    let expected = json!({
        "files": [{"path": "a.txt", "size": 4, "type": "text/plain"}],
        "images": [{"path": "b.png", "size": 10, "type": "image/png"}],
    });
    assert_eq!(document["attachments"], expected);
    let events = env.play("opencode-events", &turns, &["--attach", "a.txt"]);
    let file = events
        .of_type("message.part.updated")
        .into_iter()
        .find(|e| e["properties"]["part"]["type"] == "file");
    assert_eq!(file.unwrap()["properties"]["part"]["filename"], "a.txt");
}

#[test]
fn each_failure_has_its_code() {
    let env = TestEnv::new();
    env.file("text", "text");
    env.file("image", PNG);
    env.file("binary", b"\0\x01");
    env.file("large", "x".repeat((1 << 20) + 1));
    let locked = env.file("locked", "x");
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o0)).unwrap();
    std::fs::create_dir(env.work().join("folder")).unwrap();
    env.file("bad-limit.toml", "[attachments]\nmax_files = 0\n");
    let many = |name, count| ["--attach", name].repeat(count);
    let mut cases = vec![
        (many("absent", 1), "ATTACHMENT_NOT_FOUND", 2),
        (many("folder", 1), "ATTACHMENT_UNREADABLE", 2),
        (many("text", 11), "ATTACHMENT_TOO_MANY_FILES", 2),
        (many("image", 6), "ATTACHMENT_TOO_MANY_IMAGES", 2),
        (many("large", 1), "ATTACHMENT_TOO_LARGE", 1),
        (many("binary", 1), "ATTACHMENT_TYPE_UNSUPPORTED", 1),
        (vec!["--config", "bad-limit.toml"], "ATTACHMENT_LIMIT_INVALID", 78),
    ];
    // Root can read every file.
    if std::fs::File::open(&locked).is_err() {
        cases.push((many("locked", 1), "ATTACHMENT_UNREADABLE", 77));
    }
    for (args, code, exit) in cases {
        let output = env.play("agent-js", &script(&[text_turn("no")]), &args);
        assert_eq!((output.code, &output.document()["code"]), (9, &code.into()));
        let native = env.run(["--json", "q"].iter().chain(&args));
        assert_eq!((native.code, native.stdout.as_str()), (exit, ""), "{code}");
        native.error();
    }
    let maximum: Vec<&str> = many("text", 10).into_iter().chain(many("image", 5)).collect();
    assert_eq!(env.play("agent-js", &script(&[text_turn("ok")]), &maximum).code, 0);
}

#[test]
fn an_image_for_a_model_without_image_support() {
    let env = TestEnv::new();
    env.file("image", PNG);
    let without_vision = json!({"turns": [text_turn("no")], "vision": false});
    let output = env.play("agent-js", &without_vision, &["--attach", "image"]);
    assert_eq!((output.code, &output.document()["code"]), (6, &"VISION_NOT_SUPPORTED".into()));
}
