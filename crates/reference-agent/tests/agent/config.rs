//! The configuration file, the script and the provider's settings.

use crate::support::{CONTRACTS, Place, says, script};

#[test]
fn the_file_is_read_and_flags_win() {
    let place = Place::new();
    place.script(&script(&[says("yes")]));
    place.file("agent.toml", "model = \"scripted/theirs\"\nmax_tool_turns = 4\nprofile = \"safe\"\n");
    let ran = place.run(["--contract", "agent-js", "--config", "agent.toml", "q"]).document();
    assert_eq!((&ran["model"], &ran["profile"]), (&"scripted/theirs".into(), &"safe".into()));
    assert_eq!(ran["termination"]["maxToolTurns"], 4);
    let ran =
        place.run(["--contract", "agent-js", "--config", "agent.toml", "--model", "mine", "q"]).document();
    assert_eq!(ran["model"], "scripted/mine");
    // Paths in it start at its folder.
    place.file("sub/agent.toml", "script = \"../../script.json\"\nworkspace = \".\"\n");
    std::fs::rename(place.outside("script.json"), place.outside("kept")).unwrap();
    std::fs::rename(place.outside("kept"), place.outside("script.json")).unwrap();
    assert_eq!(place.run(["--raw", "--config", "sub/agent.toml", "q"]).stdout, "yes\n");
}

#[test]
fn everything_wrong_with_it_is_a_configuration_error() {
    let place = Place::new();
    for (text, said) in [
        ("model = ", "line 1"),
        ("mdoel = \"x\"", "mdoel"),
        ("max_tool_turns = 0", "1 to 200"),
        ("max_tool_turns = 201", "1 to 200"),
        ("max_tool_turns = \"3\"", "line 1"),
        ("timeout = -1.0", "timeout"),
        ("profile = \"root\"", "root"),
        ("max_retries = 11", "0 to 10"),
    ] {
        place.file("bad.toml", text);
        for contract in CONTRACTS {
            let ran = place.run(["--contract", contract, "--config", "bad.toml", "q"]);
            ran.keeps(contract);
            let code = match contract {
                "agent-js" => 2,
                "opencode-events" => 78,
                _ => 1,
            };
            assert_eq!(ran.code, code, "{contract}: {text}");
        }
        let ran = place.run(["--json", "--config", "bad.toml", "q"]);
        assert_eq!((ran.code, &ran.error()["kind"]), (78, &"config".into()), "{text}");
        assert!(ran.error()["message"].as_str().unwrap().contains(said), "{text}: {ran:?}");
    }
    let js = place.run(["--contract", "agent-js", "--config", "bad.toml", "q"]).document();
    assert_eq!(js["code"], "AGENT_CONFIG_INVALID");
    let absent = place.run(["--contract", "agent-js", "--config", "absent.toml", "q"]);
    assert_eq!((absent.code, &absent.document()["code"]), (2, &"AGENT_CONFIG_ERROR".into()));
}

#[test]
fn a_provider_or_a_script_that_is_not_there() {
    let place = Place::new();
    for args in [["--provider", "nope"], ["--model", "nope/model"]] {
        let ran = place.run(["--contract", "agent-js", "q"].iter().chain(&args));
        ran.keeps("agent-js");
        assert_eq!((ran.code, &ran.document()["code"]), (4, &"PROVIDER_NOT_CONFIGURED".into()));
        assert_eq!(place.run(["--json", "q"].iter().chain(&args)).code, 78);
        let nested = place.run(["--contract", "dexter-nested", "q"].iter().chain(&args)).document();
        assert_eq!(nested["error"]["code"], "CONFIG_ERROR");
    }
    assert_eq!(place.run(["--json", "--script", "absent", "q"]).code, 78);
    place.file("bad.json", "{\"turns\": [{\"txet\": 1}]}");
    assert_eq!(place.run(["--json", "--script", "bad.json", "q"]).code, 78);
}

#[test]
fn the_settings_of_the_openai_provider() {
    let place = Place::new();
    let openai = ["--contract", "agent-js", "--provider", "openai", "q"];
    let code = |args: &[&str], key: Option<&str>| {
        let mut command = place.agent(openai.iter().chain(args));
        if let Some(key) = key {
            command.env("OPENAI_API_KEY", key);
        }
        let ran = crate::support::ran(command.spawn().unwrap());
        ran.keeps("agent-js");
        (ran.code, ran.document()["code"].as_str().unwrap().to_owned())
    };
    assert_eq!(code(&[], None), (3, "AUTH_CONFIG_ERROR".into()));
    assert_eq!(code(&[], Some(" ")), (3, "AUTH_CONFIG_ERROR".into()));
    assert_eq!(code(&[], Some("a\u{7}b")), (3, "AUTH_CONFIG_INVALID".into()));
    assert_eq!(code(&["--base-url", "not a url"], Some("k")), (4, "INVALID_BASE_URL".into()));
    assert_eq!(code(&["--base-url", "ftp://h/"], Some("k")), (4, "INVALID_BASE_URL".into()));
    assert_eq!(code(&["--base-url", "http://198.51.100.1/v1"], Some("k")), (4, "INSECURE_BASE_URL".into()));

    let own = place.run(["--json", "--provider", "openai", "q"]);
    assert_eq!((own.code, &own.error()["kind"]), (77, &"auth".into()));
    let own = place.run(["--json", "--provider", "openai", "--base-url", "http://198.51.100.1/v1", "q"]);
    assert_eq!((own.code, &own.error()["kind"]), (78, &"config".into()));
    let nested = place.run(["--contract", "dexter-nested", "--provider", "openai", "q"]);
    assert_eq!(nested.document()["error"]["code"], "CONFIG_ERROR");
}
