//! Where models live.

mod offline;
mod openai;
mod scripted;

use super::failure::{Code, Failure, Result};
use super::model::Provider;
use super::options::Options;

/// The names of the providers.
const NAMES: [&str; 2] = ["scripted", "openai"];

/// The provider that is asked for, ready to be talked to.
///
/// # Errors
/// When there is none of this name, or its settings, its script or its key are wrong.
pub fn open(options: &Options) -> Result<Box<dyn Provider>> {
    match options.provider.as_str() {
        "scripted" => match &options.script {
            Some(path) => Ok(Box::new(scripted::ScriptedProvider::open(path, &options.model)?)),
            None => Ok(Box::new(offline::OfflineProvider::new(&options.model))),
        },
        "openai" => Ok(Box::new(openai::OpenAi::new(options)?)),
        name => {
            let message = format!("there is no provider {name:?}: expected one of {}", NAMES.join(", "));
            let hint =
                format!("a model whose name has a slash: --provider openai --model {name}/{}", options.model);
            Err(Failure::new(Code::ProviderNotConfigured, message).hint(hint))
        }
    }
}
