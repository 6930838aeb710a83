//! Verdicts on a target that exceeds a limit.

use super::support::Folder;
use serde_json::Value;

/// A target that would fail most checks and always has at least two processes.
const OVER_LIMIT: &str = "printf '\\033[31m{\"a\": 1\\n'\nprintf 'Traceback (most recent call last):\\n' >&2\n\
                    printf '  File \"x\", line 1\\n' >&2\nsetsid sleep 100 &\nsleep 100\n";
const CONFIG: &str = "[target]\ncommand = ['./cli']\nlimits.processes = 1\nformats.json = ['--json']\n\
                      schema = ['schema']\n\
                      [[probe]]\nname = 'list'\nargs = ['list']\nworkspace = true\n\
                      interrupt = { after = 'File' }\n\
                      [[probe]]\nname = 'wrong'\nargs = ['wrong']\nexit = 1\nformats = ['json']\n\
                      [[probe]]\nname = 'net'\nargs = ['net', '{stalled}']\n";

fn results(data: &Value) -> Vec<(&str, &str, &str)> {
    let results = data["results"].as_array().unwrap().iter().filter(|result| result["layer"] == "behavioral");
    results
        .map(|result| {
            let field = |name: &str| result[name].as_str().unwrap_or_default();
            (field("id"), field("status"), field("message"))
        })
        .collect()
}

#[test]
fn a_run_over_a_limit_leaves_each_check_unverified() {
    let folder = Folder::with(OVER_LIMIT);
    folder.write("agentnative.toml", CONFIG);
    let live = folder.run(&["check", "--json", "--record", "runs.jsonl", "."]);
    let data = live.data();
    for (id, status, message) in results(&data) {
        assert!(["unverified", "not-applicable"].contains(&status), "{id}: {status}: {message}");
    }
    let expected =
        "list · json had more than 1 processes and threads: if it needs more, raise `limits.processes`";
    let (_, _, completes) = results(&data).into_iter().find(|(id, ..)| *id == "p2-completes").unwrap();
    assert!(completes.contains(expected), "{completes}");
    let replayed = folder.run(&["check", "--json", "--replay", "runs.jsonl"]).data();
    assert_eq!(results(&replayed), results(&data));
}
