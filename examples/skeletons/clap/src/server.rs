//! The server that gets the tasks.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs};

use serde_json::{Value, json};

use crate::output::{ExitCode, Failure, Output, failure};
use crate::store::load;

fn server() -> Result<String, Failure> {
    let folder =
        env::var("XDG_CONFIG_HOME").unwrap_or(format!("{}/.config", env::var("HOME").unwrap_or_default()));
    let path = Path::new(&folder).join("todo/config.json");
    let mut config = Value::Null;
    if path.exists() {
        config = serde_json::from_slice(&fs::read(&path)?).map_err(|error| {
            failure(ExitCode::Config, "invalid_config", format!("{} is no JSON: {error}", path.display()))
        })?;
    }
    let url = env::var("TODO_URL").unwrap_or(config["url"].as_str().unwrap_or_default().to_owned());
    if !url.starts_with("http") {
        let path = path.display();
        let message = format!("'{url}' is no address of a server; set TODO_URL, or `url` in {path}");
        return Err(failure(ExitCode::Config, "no_server", message));
    }
    Ok(url)
}

pub fn sync(
    output: &Output,
    token_file: Option<PathBuf>,
    timeout: u64,
    dry_run: bool,
) -> Result<(), Failure> {
    let url = server()?;
    let token = token_file.map_or(Ok(env::var("TODO_TOKEN").unwrap_or_default()), fs::read_to_string)?;
    if token.trim().is_empty() {
        return Err(failure(
            ExitCode::Auth,
            "no_token",
            "there is no token; set TODO_TOKEN, or use --token-file",
        ));
    }
    let tasks = load()?;
    if !dry_run {
        output.note(&format!("sending {} tasks to {url}", tasks.len()));
        let limit = Some(Duration::from_secs(timeout));
        let agent: ureq::Agent = ureq::Agent::config_builder().timeout_global(limit).build().into();
        let request =
            agent.post(format!("{url}/tasks")).header("Authorization", format!("Bearer {}", token.trim()));
        request.content_type("application/json").send(serde_json::to_string(&tasks)?).map_err(|error| {
            let message = format!("no success from {url}: {error}");
            match error {
                ureq::Error::StatusCode(401 | 403) => failure(ExitCode::Auth, "rejected", message),
                ureq::Error::StatusCode(_) => failure(ExitCode::General, "rejected", message),
                _ => failure(ExitCode::General, "unreachable", message),
            }
        })?;
    }
    let done = if dry_run { "would send" } else { "sent" };
    output.one(json!({ "sent": tasks.len(), "dry_run": dry_run }), &format!("{done} {} tasks", tasks.len()))
}
