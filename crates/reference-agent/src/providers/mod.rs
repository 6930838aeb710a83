//! The model providers.

mod offline;
mod openai;
mod scripted;

use super::failure::{Code, Failure, Result};
use super::model::Provider;
use super::options::Options;

const PROVIDER_NAMES: [&str; 2] = ["scripted", "openai"];

/// Creates the provider that the options select. Fails if its settings, its script or its API key are invalid.
pub fn open(options: &Options) -> Result<Box<dyn Provider>> {
    let (name, model) = options.provider_and_model();
    match name {
        "scripted" => match &options.script {
            Some(path) => Ok(Box::new(scripted::ScriptedProvider::open(path, model)?)),
            None => Ok(Box::new(offline::OfflineProvider)),
        },
        "openai" => Ok(Box::new(openai::OpenAi::new(options)?)),
        _ => {
            let message = format!("unknown provider {name:?}; expected one of {}", PROVIDER_NAMES.join(", "));
            let hint =
                format!("if the model name contains a slash: --provider openai --model {name}/{model}");
            Err(Failure::new(Code::ProviderNotConfigured, message).with_hint(hint))
        }
    }
}
