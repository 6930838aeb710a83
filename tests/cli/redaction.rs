//! Values of `pass_env` and `secret` are redacted in all outputs of a check.

use super::support::{CliOutput, Folder, output_of};
use std::fs;

const TOKEN: &str = "ghp_0123456789abcdefXYZ";
const CONFIGURATION: &str = "[target]
command = ['./cli']
pass_env = ['MYCLI_TOKEN', 'MYCLI_MODE']
[[probe]]
name = 'go'
args = ['go']
workspace = true
";
/// A target that prints the token as plain text, in Base64, reversed, in invalid JSON, and as a name.
const PRINTS_TOKEN: &str = r#"
b64=$(printf 'user:%s' "$MYCLI_TOKEN" | base64)
back=$(printf %s "$MYCLI_TOKEN" | rev)
echo "error: $MYCLI_TOKEN, $b64 and $back were refused" >&2
less "$MYCLI_TOKEN" </dev/null
touch "$MYCLI_TOKEN"
case $* in
    *json*) printf '{"token":"%s","mode":"%s" oops %s}\n' "$MYCLI_TOKEN" "$MYCLI_MODE" "$b64" ;;
    *) printf 'token %s\nbasic %s\nreverse %s\nmode %s\n' "$MYCLI_TOKEN" "$b64" "$back" "$MYCLI_MODE" ;;
esac
"#;
const FORMATS: [&str; 9] =
    ["text", "json", "jsonl", "sarif", "junit", "github", "gitlab", "markdown", "html"];

fn check(folder: &Folder, args: &[&str]) -> CliOutput {
    let mut command = folder.command();
    output_of(command.env("MYCLI_TOKEN", TOKEN).env("MYCLI_MODE", "fast").arg("check").args(args))
}

fn assert_redacted(location: &str, text: &str) {
    // The middle of the secret, of its Base64 encoding after `user:`, and of the reversed secret.
    for spelling in ["0123456789abcdef", "MDEyMzQ1Njc4OWFiY2", "fedcba987654"] {
        assert!(!text.contains(spelling), "{location} contains {spelling}: {text}");
    }
}

#[test]
fn no_report_and_no_recording_contains_passed_variables() {
    let folder = Folder::with(PRINTS_TOKEN);
    folder.write("agentnative.toml", CONFIGURATION);
    let reports = FORMATS.map(|format| format!("{format}=report.{format}"));
    let reports = reports.iter().flat_map(|report| ["--report", report]);
    let checks = ["p2-output-json", "p2-output-format", "p2-error-json", "p2-completes", "p6-no-pager"];
    let flags: Vec<&str> = checks.into_iter().flat_map(|id| ["--check", id]).collect();
    let first = ["--jsonl", "--record", "seen"].into_iter().chain(reports).chain(flags.iter().copied());
    let live = check(&folder, &first.collect::<Vec<_>>());
    assert_eq!(live.code, Some(1), "{}", live.err);
    assert_redacted("stdout", &live.out);
    assert_redacted("stderr", &live.err);
    for name in FORMATS.map(|format| format!("report.{format}")).iter().map(String::as_str).chain(["seen"]) {
        assert_redacted(name, &folder.read(name));
    }
    let stars = "*".repeat(TOKEN.len());
    for name in ["seen", "report.html", "report.json"] {
        assert!(
            folder.read(name).contains(&stars),
            "{name} contains no redacted value: {}",
            folder.read(name)
        );
    }
    assert!(folder.read("seen").contains("fast"), "a word of four letters is no secret");
    // A replay gives the same verdicts.
    let replay = check(&folder, &[&["--replay", "seen", "--jsonl"][..], &flags].concat());
    let results = |output: &CliOutput| -> Vec<_> {
        output.lines().into_iter().filter(|line| line["type"] == "result").collect()
    };
    assert_eq!(results(&replay), results(&live));
}

#[test]
fn output_of_a_service_in_an_error_is_redacted() {
    let folder = Folder::with("echo '{}'");
    folder.script("fails", "echo \"cannot sign in with $MYCLI_TOKEN\" >&2; exit 1\n");
    let config = CONFIGURATION
        .replace("[[probe]]", "[[service]]\ncommand = ['./fails']\nready = { line = 'up' }\n[[probe]]");
    folder.write("agentnative.toml", config);
    let output = check(&folder, &["--json", "--check", "p2-completes"]);
    assert_eq!(output.code, Some(78), "{}", output.err);
    assert_redacted("the error", &output.err);
    assert!(output.err.contains("cannot sign in with ***"), "{}", output.err);
}

#[test]
fn the_secret_of_the_target_is_redacted() {
    let folder = Folder::with(PRINTS_TOKEN);
    let config =
        CONFIGURATION.replace("pass_env = ['MYCLI_TOKEN', 'MYCLI_MODE']", "secret = { env = 'MYCLI_TOKEN' }");
    folder
        .write("agentnative.toml", format!("{config}secret = true\n[probe.env]\nMYCLI_TOKEN = '{TOKEN}'\n"));
    let output = check(
        &folder,
        &[
            "--jsonl",
            "--report",
            "html=page.html",
            "--check",
            "p2-output-json",
            "--check",
            "p1-secret-silent",
        ],
    );
    assert_eq!(output.code, Some(1), "{}", output.err);
    assert_redacted("stdout", &output.out);
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert_redacted("the page", &page);
    let leak = output.lines().into_iter().find(|line| line["id"] == "p1-secret-silent").unwrap();
    assert_eq!(leak["status"], "fail", "redaction does not affect the verdict: {leak}");
}
