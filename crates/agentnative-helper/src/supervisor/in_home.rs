//! What a confined run sees of the homes of the user: its project, its program with what that needs, the folders of
//! toolchains, and what the configuration names. Nothing else is there: credentials lie anywhere in a home.

#![expect(
    clippy::disallowed_methods,
    reason = "runs cannot write to the homes, the programs and the list of users"
)]

use super::Common;
use super::environment::Environment;
use super::start_folder::project_of;
use crate::Job;
use crate::environment::{clean_path, folders_of};
use rustix::process::geteuid;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Folders of toolchains, below a home.
const TOOLCHAINS: &[&str] = &[
    ".asdf",
    ".cargo",
    ".goenv",
    ".local/pipx",
    ".local/share/mise",
    ".local/share/pipx",
    ".local/share/uv",
    ".nodenv",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".volta",
];
/// The variables that name them.
const TOOLCHAIN_VARIABLES: &[&str] = &[
    "ASDF_DATA_DIR",
    "CARGO_HOME",
    "NVM_DIR",
    "PIPX_HOME",
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "UV_PYTHON_INSTALL_DIR",
    "UV_TOOL_DIR",
    "VOLTA_HOME",
];
/// Folders below a home that hold things of many programs: none of these is the installation of one.
const COMMON: &[&str] = &["", ".cache", ".config", ".local", ".local/lib", ".local/share", ".local/state"];

/// Files and folders with credentials, below a home or what lies in one.
const CREDENTIALS: &[&str] = &[
    ".aws",
    ".azure",
    ".bash_history",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".config/containers/auth.json",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/glab-cli",
    ".config/hub",
    ".config/op",
    ".config/pip",
    ".config/rclone",
    ".config/sops",
    ".docker/config.json",
    ".gem/credentials",
    ".gemini/oauth_creds.json",
    ".git-credentials",
    ".gnupg",
    ".gradle/gradle.properties",
    ".kube/config",
    ".local/share/keyrings",
    ".local/share/opencode/auth.json",
    ".m2/settings.xml",
    ".mozilla",
    ".netrc",
    ".npmrc",
    ".oci",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".python_history",
    ".ssh",
    ".terraform.d",
    ".vault-token",
    ".zsh_history",
];
/// Variables that name files or folders with credentials.
const CREDENTIAL_VARIABLES: &[&str] = &[
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AZURE_CONFIG_DIR",
    "BOTO_CONFIG",
    "CLOUDSDK_CONFIG",
    "DOCKER_CONFIG",
    "GH_CONFIG_DIR",
    "GLAB_CONFIG_DIR",
    "GNUPGHOME",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "HELM_REGISTRY_CONFIG",
    "KUBECONFIG",
    "NETRC",
    "NPM_CONFIG_USERCONFIG",
    "OCI_CLI_CONFIG_FILE",
    "PASSWORD_STORE_DIR",
    "PGPASSFILE",
    "PIP_CONFIG_FILE",
    "REGISTRY_AUTH_FILE",
    "SOPS_AGE_KEY_FILE",
    "SSH_AUTH_SOCK",
    "TF_CLI_CONFIG_FILE",
    "XAUTHORITY",
    "npm_config_userconfig",
];

/// A chain of links and interpreters that is longer than this leads nowhere.
const MAX_STEPS: usize = 32;
/// The kernel reads no more of the first line of a script.
const MAX_SHEBANG: u64 = 256;
/// More of a configuration of git is not read.
const MAX_GIT_CONFIG: u64 = 64 * 1024;

/// Returns the homes of the user: the one in the list of users, and the one that the caller has. A home that is the root of
/// all is none.
pub(super) fn homes(caller: &Environment) -> Vec<PathBuf> {
    let listed = fs::read_to_string("/etc/passwd").ok().and_then(|users| {
        let user = geteuid().as_raw().to_string();
        let mut users = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let own = users.find(|fields| fields.get(2) == Some(&&*user))?;
        own.get(5).map(PathBuf::from)
    });
    let named = caller.get(OsStr::new("HOME")).map(PathBuf::from);
    let all = listed.into_iter().chain(named).filter(|path| path.is_absolute());
    let mut homes: Vec<PathBuf> = all.filter_map(|path| path.canonicalize().ok()).collect();
    homes.retain(|path| path.parent().is_some() && path.is_dir());
    homes.sort();
    homes.dedup();
    homes
}

/// What a run sees of the homes.
#[derive(Default)]
pub(super) struct InHome {
    pub visible: BTreeSet<PathBuf>,
    /// Links, and where they lead to.
    pub links: BTreeSet<(PathBuf, PathBuf)>,
    /// What it finds empty.
    pub hidden: BTreeSet<PathBuf>,
}

impl InHome {
    /// Returns what a job sees.
    pub fn of(common: &Common, job: &Job) -> Self {
        let homes = &common.homes;
        let mut seen = Self::default();
        let path = job.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
        let path = clean_path(path.or_else(|| common.base.get(OsStr::new("PATH")).map(OsString::as_os_str)));
        seen.add_program(PathBuf::from(&job.program), &path, homes);
        if let Ok(folder) = Path::new(&job.cwd).canonicalize() {
            seen.add(project_of(job, &folder, homes), homes);
        }
        let named = TOOLCHAIN_VARIABLES.iter().filter_map(|name| common.caller.get(OsStr::new(name)));
        let usual = homes.iter().flat_map(|home| TOOLCHAINS.iter().map(|name| home.join(name)));
        let programs =
            folders_of(&path).into_iter().filter(|folder| folder.file_name().is_some_and(is_for_programs));
        let readable = job.readable.iter().map(PathBuf::from);
        for path in usual.chain(named.map(PathBuf::from)).chain(programs).chain(readable) {
            seen.add(path, homes);
        }
        seen.hide(common, job);
        seen
    }

    /// Adds what is at a path, if it lies in a home, and where it leads to if it is a link.
    fn add(&mut self, mut path: PathBuf, homes: &[PathBuf]) {
        for _ in 0..MAX_STEPS {
            let is_home = homes.iter().any(|home| home.starts_with(&path));
            if is_home || !homes.iter().any(|home| path.starts_with(home)) {
                return;
            }
            let Ok(to) = fs::read_link(&path) else { break };
            let Some(target) = with_real_parent(&path.with_file_name("").join(&to)) else { return };
            self.links.insert((std::mem::replace(&mut path, target), to));
        }
        if path.exists() {
            self.visible.insert(path);
        }
    }

    /// Adds a program: the links on the way to it, its interpreter, and the installations that these belong to.
    fn add_program(&mut self, program: PathBuf, path: &OsStr, homes: &[PathBuf]) {
        let mut next = Some(program);
        for _ in 0..MAX_STEPS {
            let Some(program) = next else { return };
            let Some(program) = with_real_parent(&program) else { return };
            if let Some(installation) = installation_of(&program, homes) {
                self.visible.insert(installation);
            }
            next = match fs::read_link(&program) {
                Ok(to) => {
                    let target = program.with_file_name("").join(&to);
                    if homes.iter().any(|home| program.starts_with(home)) {
                        self.links.insert((program, to));
                    }
                    Some(target)
                }
                Err(_) => interpreter_of(&program, path),
            };
        }
    }

    /// Finds the credentials in what is visible, and those that the caller's variables name.
    fn hide(&mut self, common: &Common, job: &Job) {
        let is_passed = |name: &str| job.env.iter().any(|(own, _)| own == name);
        let named = CREDENTIAL_VARIABLES.iter().filter(|name| !is_passed(name));
        let named = named.filter_map(|name| common.caller.get(OsStr::new(name)));
        let named = named.flat_map(|value| value.as_bytes().split(|byte| *byte == b':'));
        self.hidden.extend(
            named.map(|path| PathBuf::from(OsStr::from_bytes(path))).filter(|path| path.is_absolute()),
        );
        let below = common.homes.iter().flat_map(|home| CREDENTIALS.iter().map(|name| home.join(name)));
        let is_visible = |path: &PathBuf| self.visible.iter().any(|seen| path.starts_with(seen));
        let below: Vec<PathBuf> = below.filter(is_visible).collect();
        self.hidden.extend(below);
        let configuration = Path::new(&job.cwd).canonicalize().ok();
        let configuration =
            configuration.map(|folder| project_of(job, &folder, &common.homes).join(".git/config"));
        self.hidden.extend(configuration.filter(|path| has_credentials(path)));
        // What the author shows is shown.
        self.hidden.retain(|path| !job.readable.iter().any(|shown| path.as_os_str() == shown));
    }
}

/// Returns a path whose folders are no links.
fn with_real_parent(path: &Path) -> Option<PathBuf> {
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}

fn is_for_programs(name: &OsStr) -> bool {
    ["bin", "sbin", ".bin"].iter().any(|own| name == *own)
}

/// Returns the installation of a program that lies in a home: the folder above `bin`, the outermost `node_modules`, or its
/// own folder; only the program itself where that holds things of many programs. `None` for a link in such a folder.
fn installation_of(program: &Path, homes: &[PathBuf]) -> Option<PathBuf> {
    let home =
        homes.iter().filter(|home| program.starts_with(home)).max_by_key(|home| home.components().count())?;
    let is_common = |folder: &Path| COMMON.iter().any(|name| folder == home.join(name));
    let outermost =
        program.ancestors().filter(|path| path.file_name() == Some(OsStr::new("node_modules"))).last();
    let folder = program.parent()?;
    let installation = match outermost {
        Some(modules) => modules,
        None if folder.file_name().is_some_and(is_for_programs) => folder.parent()?,
        None => folder,
    };
    if installation.starts_with(home) && !is_common(installation) {
        return Some(installation.to_owned());
    }
    program.symlink_metadata().is_ok_and(|found| found.is_file()).then(|| program.to_owned())
}

/// Returns the interpreter of a script, also the one that `env` finds.
fn interpreter_of(program: &Path, path: &OsStr) -> Option<PathBuf> {
    let mut line = Vec::new();
    File::open(program).ok()?.take(MAX_SHEBANG).read_to_end(&mut line).ok()?;
    let line = line.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let interpreter = PathBuf::from(OsString::from_vec(words.next()?.to_vec()));
    if interpreter.file_name() != Some(OsStr::new("env")) {
        return Some(interpreter);
    }
    let name = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='))?;
    folders_of(path)
        .into_iter()
        .map(|folder| folder.join(OsStr::from_bytes(name)))
        .find(|path| path.is_file())
}

/// Whether a configuration of git holds a token, as those that CI systems check out do.
fn has_credentials(path: &Path) -> bool {
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_GIT_CONFIG).read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text).to_ascii_lowercase();
    let has_password = |line: &str| {
        let address = line.split_once("://").and_then(|(_, address)| address.split_once('@'));
        address.is_some_and(|(user, _)| user.contains(':') && !user.contains('/'))
    };
    read.is_ok() && (text.contains("extraheader") || text.lines().any(has_password))
}
