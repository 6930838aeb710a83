//! Files and images that go along.

use crate::support::{Place, says, script};
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0";

#[test]
fn files_and_images_are_told_apart() {
    let place = Place::new();
    place.file("a.txt", "text");
    place.file("b.png", PNG);
    let turns = script(&[says("seen")]);
    let document = place.play("agent-js", &turns, &["--attach", "a.txt", "--attach", "b.png"]).document();
    let expected = json!({
        "files": [{"path": "a.txt", "size": 4, "type": "text/plain"}],
        "images": [{"path": "b.png", "size": 10, "type": "image/png"}],
    });
    assert_eq!(document["attachments"], expected);
    let events = place.play("opencode-events", &turns, &["--attach", "a.txt"]);
    let file = events
        .of_type("message.part.updated")
        .into_iter()
        .find(|e| e["properties"]["part"]["type"] == "file");
    assert_eq!(file.unwrap()["properties"]["part"]["filename"], "a.txt");
}

#[test]
fn each_way_to_fail_has_its_code() {
    let place = Place::new();
    place.file("text", "text");
    place.file("image", PNG);
    place.file("binary", b"\0\x01");
    place.file("large", "x".repeat((1 << 20) + 1));
    let locked = place.file("locked", "x");
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o0)).unwrap();
    std::fs::create_dir(place.work().join("folder")).unwrap();
    place.file("bad-limit.toml", "[attachments]\nmax_files = 0\n");
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
    // Root reads everything.
    if std::fs::File::open(&locked).is_err() {
        cases.push((many("locked", 1), "ATTACHMENT_UNREADABLE", 77));
    }
    for (args, code, exit) in cases {
        let ran = place.play("agent-js", &script(&[says("no")]), &args);
        assert_eq!((ran.code, &ran.document()["code"]), (9, &code.into()));
        let own = place.run(["--json", "q"].iter().chain(&args));
        assert_eq!((own.code, own.stdout.as_str()), (exit, ""), "{code}");
        own.error();
    }
    let most: Vec<&str> = many("text", 10).into_iter().chain(many("image", 5)).collect();
    assert_eq!(place.play("agent-js", &script(&[says("ok")]), &most).code, 0);
}

#[test]
fn an_image_for_a_model_that_takes_none() {
    let place = Place::new();
    place.file("image", PNG);
    let blind = json!({"turns": [says("no")], "vision": false});
    let ran = place.play("agent-js", &blind, &["--attach", "image"]);
    assert_eq!((ran.code, &ran.document()["code"]), (6, &"VISION_NOT_SUPPORTED".into()));
}
