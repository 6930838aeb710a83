//! What a confined run sees of the homes of the user: its project, its program with what that needs, the folders of
//! toolchains, and what the configuration names. Nothing else is there: credentials lie anywhere in a home.

#![expect(
    clippy::disallowed_methods,
    reason = "runs cannot write to the homes, the programs and the list of users"
)]

use super::all_runs::Common;
use super::environment::Environment;
use super::git::{has_credentials, repository_of_worktree};
use super::home_view::InHome;
use super::start_folder::project_of;
use crate::Job;
use crate::environment::{clean_path, folders_of};
use rustix::process::geteuid;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

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

/// Variables that name another place of a folder.
const MOVED: &[(&str, &str)] =
    &[("CARGO_HOME", ".cargo"), ("XDG_CONFIG_HOME", ".config"), ("XDG_DATA_HOME", ".local/share")];

/// A chain of links and interpreters that is longer than this leads nowhere.
const MAX_STEPS: usize = 32;
/// Of a folder on PATH with more programs, not all are looked at.
const MAX_PROGRAMS: usize = 500;
/// What makes a folder a project.
const PROJECT_FILES: &[&str] = &[".git", "package.json", "pyproject.toml", "Cargo.toml", "go.mod"];
/// The kernel reads no more of the first line of a script.
const MAX_SHEBANG: u64 = 256;

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

impl InHome {
    /// Returns what a job sees.
    pub fn of(common: &Common, job: &Job) -> Self {
        let path = job.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
        let path = clean_path(path.or_else(|| common.base.get(OsStr::new("PATH")).map(OsString::as_os_str)));
        // The folders of the run itself are in no home.
        let folders = std::env::split_paths(&path).filter(|folder| !folder.starts_with(common.root.path()));
        let path = std::env::join_paths(folders).unwrap_or(path.clone());
        let first = job.args.first().cloned().unwrap_or_default();
        let cwd = if job.workspace.is_some() { OsString::new() } else { job.cwd.clone() };
        let key = [job.program.clone(), first, cwd, path];
        let mut known = common.in_home.borrow_mut();
        let mut seen =
            known.entry(key).or_insert_with_key(|[.., path]| Self::needed(common, job, path)).clone();
        for path in &job.readable {
            seen.add(Path::new(path), &common.homes);
        }
        seen.hide(common, job);
        seen
    }

    /// Returns what the program and the project of a job need, and the programs on `path`.
    fn needed(common: &Common, job: &Job, path: &OsStr) -> Self {
        let homes = &common.homes;
        let mut seen = Self::default();
        // With an interpreter, the program is its first argument.
        let script =
            job.args.first().map(|word| Path::new(&job.cwd).join(word)).filter(|path| path.is_file());
        for program in [Some(PathBuf::from(&job.program)), script].into_iter().flatten() {
            seen.add_program(program, path, homes);
        }
        // As it was named, it may lead over links.
        seen.follow(Path::new(&job.cwd), homes);
        for project in projects_of(job, homes) {
            let repository = repository_of_worktree(&project);
            if let Some(repository) = &repository {
                seen.add(repository, homes);
            }
            seen.add(&project, homes);
            let configurations = [Some(project.join(".git")), repository].into_iter().flatten();
            let configurations = configurations.map(|repository| repository.join("config"));
            seen.hidden.extend(configurations.filter(|path| has_credentials(path)));
        }
        let named = TOOLCHAIN_VARIABLES.iter().filter_map(|name| common.caller.get(OsStr::new(name)));
        let usual = homes.iter().flat_map(|home| TOOLCHAINS.iter().map(|name| home.join(name)));
        for path in usual.chain(named.map(PathBuf::from)) {
            seen.add(&path, homes);
        }
        let folders = folders_of(path).into_iter();
        for folder in folders.filter(|folder| folder.file_name().is_some_and(is_for_programs)) {
            seen.add_programs(&folder, path, homes);
        }
        let all = seen.visible.clone();
        seen.visible.retain(|path| !path.ancestors().skip(1).any(|above| all.contains(above)));
        seen
    }

    /// Adds what is at a path, if it lies in a home, and the links on the way to it.
    fn add(&mut self, path: &Path, homes: &[PathBuf]) {
        let Some(path) = self.follow(path, homes) else { return };
        let is_home = homes.iter().any(|home| home.starts_with(&path));
        if !is_home && is_in(&path, homes) && path.exists() {
            self.visible.insert(path);
        }
    }

    /// Returns where a path leads to, and notes the links of homes on the way.
    fn follow(&mut self, path: &Path, homes: &[PathBuf]) -> Option<PathBuf> {
        let mut done = PathBuf::new();
        let mut rest: Vec<PathBuf> = vec![path.to_owned()];
        let mut steps = 0;
        while let Some(path) = rest.pop() {
            let mut components = path.components();
            let Some(first) = components.next() else { continue };
            rest.push(components.as_path().to_owned());
            match first {
                Component::RootDir | Component::Prefix(_) => done = PathBuf::from("/"),
                Component::CurDir => {}
                Component::ParentDir => drop(done.pop()),
                Component::Normal(name) => {
                    done.push(name);
                    if let Ok(to) = fs::read_link(&done) {
                        steps += 1;
                        if steps > MAX_STEPS {
                            return None;
                        }
                        if is_in(&done, homes) {
                            self.links.insert((done.clone(), to.clone()));
                        }
                        done.pop();
                        rest.push(to);
                    }
                }
            }
        }
        Some(done)
    }

    /// Adds a program: the links on the way to it, its interpreter, and the installations that these belong to.
    fn add_program(&mut self, program: PathBuf, path: &OsStr, homes: &[PathBuf]) {
        let mut next = Some(program);
        for _ in 0..MAX_STEPS {
            let Some(program) = next else { return };
            let parent = program.parent().and_then(|parent| self.follow(parent, homes));
            let Some(program) = parent.zip(program.file_name()).map(|(parent, name)| parent.join(name))
            else {
                return;
            };
            if let Some(installation) = installation_of(&program, homes) {
                self.visible.insert(installation);
            }
            next = match fs::read_link(&program) {
                Ok(to) => {
                    let target = program.with_file_name("").join(&to);
                    if is_in(&program, homes) {
                        self.links.insert((program, to));
                    }
                    Some(target)
                }
                Err(_) => interpreter_of(&program, path),
            };
        }
    }

    /// Adds the programs in a folder: all of them, the installation that the folder belongs to, and where links lead to.
    fn add_programs(&mut self, folder: &Path, path: &OsStr, homes: &[PathBuf]) {
        let Some(folder) = self.follow(folder, homes).filter(|folder| is_in(folder, homes)) else { return };
        self.add(&folder, homes);
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        for entry in entries.take(MAX_PROGRAMS) {
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                self.add_program(entry.path(), path, homes);
            } else if let Some(installation) = installation_of(&entry.path(), homes) {
                self.visible.insert(installation);
            }
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
        let moved = MOVED.iter().filter_map(|(variable, folder)| {
            let to = Path::new(common.caller.get(OsStr::new(variable))?);
            let names = CREDENTIALS.iter().filter_map(|name| Path::new(name).strip_prefix(folder).ok());
            to.is_absolute().then(|| names.map(|name| to.join(name)).collect::<Vec<_>>())
        });
        self.hidden.extend(moved.flatten());
        let below = common.homes.iter().flat_map(|home| CREDENTIALS.iter().map(|name| home.join(name)));
        let is_visible = |path: &PathBuf| self.visible.iter().any(|seen| path.starts_with(seen));
        let below: Vec<PathBuf> = below.filter(is_visible).collect();
        self.hidden.extend(below);
        // What the author shows is shown.
        self.hidden.retain(|path| !job.readable.iter().any(|shown| path.as_os_str() == shown));
    }
}

/// Returns the project that a run starts in, and that of its target: a run that has a workspace may need it as well.
fn projects_of(job: &Job, homes: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    let folders = [Some(&job.cwd), job.project.as_ref()].into_iter().flatten();
    let folders = folders.filter_map(|folder| Path::new(folder).canonicalize().ok());
    folders.map(|folder| project_of(job, &folder, homes)).collect::<Vec<_>>().into_iter()
}

fn is_in(path: &Path, homes: &[PathBuf]) -> bool {
    homes.iter().any(|home| path.starts_with(home))
}

fn is_for_programs(name: &OsStr) -> bool {
    ["bin", "sbin", ".bin"].iter().any(|own| name == *own)
}

/// Returns the installation of a program that lies in a home: the folder above `bin`, the outermost `node_modules`, its
/// project, or its own folder; only the program itself where that holds things of many programs. `None` for a link in such a folder.
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
        // A program that is linked for its development lies anywhere in its project.
        None => {
            let projects = folder.ancestors().take_while(|path| path.starts_with(home) && !is_common(path));
            let is_project = |path: &&Path| PROJECT_FILES.iter().any(|name| path.join(name).exists());
            projects.into_iter().find(is_project).unwrap_or(folder)
        }
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
