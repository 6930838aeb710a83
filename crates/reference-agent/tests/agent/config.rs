//! The configuration file, the script and the settings of the provider.

use crate::support::{CONTRACTS, TestEnv, script, text_turn};

#[test]
fn flags_override_the_file() {
    let env = TestEnv::new();
    env.script(&script(&[text_turn("yes")]));
    env.file("agent.toml", "model = \"scripted/theirs\"\nmax_tool_turns = 4\nprofile = \"safe\"\n");
    let output = env.run(["--contract", "agent-js", "--config", "agent.toml", "q"]).document();
    assert_eq!((&output["model"], &output["profile"]), (&"scripted/theirs".into(), &"safe".into()));
    assert_eq!(output["termination"]["maxToolTurns"], 4);
    let output =
        env.run(["--contract", "agent-js", "--config", "agent.toml", "--model", "mine", "q"]).document();
    assert_eq!(output["model"], "scripted/mine");
    // Paths in the file start at its folder.
    env.file("sub/agent.toml", "script = \"../../script.json\"\nworkspace = \".\"\n");
    std::fs::rename(env.outside("script.json"), env.outside("kept")).unwrap();
    std::fs::rename(env.outside("kept"), env.outside("script.json")).unwrap();
    assert_eq!(env.run(["--raw", "--config", "sub/agent.toml", "q"]).stdout, "yes\n");
}

#[test]
fn every_invalid_value_is_a_configuration_error() {
    let env = TestEnv::new();
    for (text, message) in [
        ("model = ", "line 1"),
        ("mdoel = \"x\"", "mdoel"),
        ("max_tool_turns = 0", "1 to 200"),
        ("max_tool_turns = 201", "1 to 200"),
        ("max_tool_turns = \"3\"", "line 1"),
        ("timeout = -1.0", "timeout"),
        ("profile = \"root\"", "root"),
        ("max_retries = 11", "0 to 10"),
    ] {
        env.file("bad.toml", text);
        for contract in CONTRACTS {
            let output = env.run(["--contract", contract, "--config", "bad.toml", "q"]);
            output.assert_conforms(contract);
            let code = match contract {
                "agent-js" => 2,
                "opencode-events" => 78,
                _ => 1,
            };
            assert_eq!(output.code, code, "{contract}: {text}");
        }
        let output = env.run(["--json", "--config", "bad.toml", "q"]);
        assert_eq!((output.code, &output.error()["kind"]), (78, &"config".into()), "{text}");
        assert!(output.error()["message"].as_str().unwrap().contains(message), "{text}: {output:?}");
    }
    let js = env.run(["--contract", "agent-js", "--config", "bad.toml", "q"]).document();
    assert_eq!(js["code"], "AGENT_CONFIG_INVALID");
    let absent = env.run(["--contract", "agent-js", "--config", "absent.toml", "q"]);
    assert_eq!((absent.code, &absent.document()["code"]), (2, &"AGENT_CONFIG_ERROR".into()));
}

#[test]
fn a_missing_provider_or_script_is_a_configuration_error() {
    let env = TestEnv::new();
    for args in [["--provider", "nope"], ["--model", "nope/model"]] {
        let output = env.run(["--contract", "agent-js", "q"].iter().chain(&args));
        output.assert_conforms("agent-js");
        assert_eq!((output.code, &output.document()["code"]), (4, &"PROVIDER_NOT_CONFIGURED".into()));
        assert_eq!(env.run(["--json", "q"].iter().chain(&args)).code, 78);
        let nested = env.run(["--contract", "dexter-nested", "q"].iter().chain(&args)).document();
        assert_eq!(nested["error"]["code"], "CONFIG_ERROR");
    }
    assert_eq!(env.run(["--json", "--script", "absent", "q"]).code, 78);
    env.file("bad.json", "{\"turns\": [{\"txet\": 1}]}");
    assert_eq!(env.run(["--json", "--script", "bad.json", "q"]).code, 78);
}

#[test]
fn the_settings_of_the_openai_provider() {
    let env = TestEnv::new();
    let openai = ["--contract", "agent-js", "--provider", "openai", "q"];
    let code = |args: &[&str], key: Option<&str>| {
        let mut command = env.agent(openai.iter().chain(args));
        if let Some(key) = key {
            command.env("OPENAI_API_KEY", key);
        }
        let output = crate::support::wait_for_output(command.spawn().unwrap());
        output.assert_conforms("agent-js");
        (output.code, output.document()["code"].as_str().unwrap().to_owned())
    };
    assert_eq!(code(&[], None), (3, "AUTH_CONFIG_ERROR".into()));
    assert_eq!(code(&[], Some(" ")), (3, "AUTH_CONFIG_ERROR".into()));
    assert_eq!(code(&[], Some("a\u{7}b")), (3, "AUTH_CONFIG_INVALID".into()));
    assert_eq!(code(&["--base-url", "not a url"], Some("k")), (4, "INVALID_BASE_URL".into()));
    assert_eq!(code(&["--base-url", "ftp://h/"], Some("k")), (4, "INVALID_BASE_URL".into()));
    assert_eq!(code(&["--base-url", "http://198.51.100.1/v1"], Some("k")), (4, "INSECURE_BASE_URL".into()));

    let native = env.run(["--json", "--provider", "openai", "q"]);
    assert_eq!((native.code, &native.error()["kind"]), (77, &"auth".into()));
    let native = env.run(["--json", "--provider", "openai", "--base-url", "http://198.51.100.1/v1", "q"]);
    assert_eq!((native.code, &native.error()["kind"]), (78, &"config".into()));
    let nested = env.run(["--contract", "dexter-nested", "--provider", "openai", "q"]);
    assert_eq!(nested.document()["error"]["code"], "CONFIG_ERROR");
}
