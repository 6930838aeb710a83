//! The command `agentnative completions SHELL`.

use super::complete::VARIABLE;
use agentnative_contract::error::{Error, Result};
use agentnative_output::Output;
use clap_complete::Shell;
use clap_complete::env::Shells;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  agentnative completions bash")]
pub(super) struct CompletionsArgs {
    /// Shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// A completion script.
#[derive(Serialize, JsonSchema)]
pub(super) struct Completions {
    /// The shell that the script is for.
    shell: String,
    /// The script.
    script: String,
}

/// bash splits words at `=` and `@`, and replaces only the part after them: this function passes the whole word to
/// the program and returns the rest of each candidate.
const WHOLE_WORDS: &str = r#"
_whole_words_agentnative() {
    local line=${COMP_LINE:0:COMP_POINT} words=() last=-1 part gap i
    for ((i = 0; i <= COMP_CWORD; i++)); do
        part=${COMP_WORDS[i]}
        gap=${line%%[![:blank:]]*}
        line=${line#"$gap"}
        [[ $line == "$part"* ]] || part=$line
        line=${line#"$part"}
        if [[ $i -gt 0 && -z $gap ]]; then words[last]+=$part; else words[++last]=$part; fi
    done
    local COMP_WORDS=("${words[@]}") COMP_CWORD=$last
    local word=${words[last]}
    local rest=${word##*[=@:]}
    _clap_complete_agentnative "$1" "$word" "$3"
    COMPREPLY=("${COMPREPLY[@]#"${word%"$rest"}"}")
}
"#;

pub(super) fn run(args: &CompletionsArgs, output: &mut Output) -> Result<()> {
    let mut script = Vec::new();
    let (shell, name) = (args.shell.to_string(), "agentnative");
    let unwritten = |words: &str| Error::general(format!("cannot write the script for {shell}: {words}"));
    let shells = Shells::builtins();
    let completer = shells.completer(&shell).ok_or_else(|| unwritten("unknown shell"))?;
    let written = completer.write_registration(VARIABLE, name, name, name, &mut script);
    written.map_err(|error| unwritten(&error.to_string()))?;
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if args.shell == Shell::Bash {
        script = format!("{}{WHOLE_WORDS}", script.replace("-F _clap_complete_", "-F _whole_words_"));
    }
    let data = Completions { shell, script };
    output.emit("completions", true, &data, |page| page.verbatim(&data.script))
}
