//! Decides what a confined run sees of the user's home folders: its project, its program with the files installed with
//! it, the folders of toolchains, and the paths that the configuration names. Nothing else is visible, since any folder
//! of a home may hold credentials.

#![expect(
    clippy::disallowed_methods,
    reason = "runs cannot write to the homes, the programs and the list of users"
)]

use super::common::Common;
use super::environment::Environment;
use super::git::{has_credentials, repository_of_worktree};
use super::home_view::HomeView;
use super::start_folder::project_of;
use crate::Job;
use crate::environment::{absolute_entries, absolute_path_entries};
use rustix::process::geteuid;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

/// Paths of folders of toolchains, relative to a home.
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
/// Variables that name folders of toolchains.
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
/// Paths of folders, relative to a home, that many programs share. Such a folder is not the installation of one
/// program.
const SHARED_FOLDERS: &[&str] =
    &["", ".cache", ".config", ".local", ".local/lib", ".local/share", ".local/state"];

/// Paths of files and folders with credentials, relative to a home.
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

/// Variables that name another path for a folder of the home, and the default path of that folder, relative to the
/// home.
const MOVING_VARIABLES: &[(&str, &str)] =
    &[("CARGO_HOME", ".cargo"), ("XDG_CONFIG_HOME", ".config"), ("XDG_DATA_HOME", ".local/share")];

/// Maximum number of symbolic links and interpreters that are followed from one path.
const MAX_LINKS: usize = 32;
/// Maximum number of programs that are examined in a folder on PATH.
const MAX_PROGRAMS: usize = 500;
/// Files that mark a folder as a project.
const PROJECT_FILES: &[&str] = &[".git", "package.json", "pyproject.toml", "Cargo.toml", "go.mod"];
/// Maximum number of bytes that the kernel reads of the first line (`#!…`) of a script.
const MAX_SHEBANG_BYTES: u64 = 256;

/// Returns the home folders of the user: the one in `/etc/passwd`, and the caller's `HOME`. Omits `/`.
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

impl HomeView {
    /// Returns what the run of a job sees of the home folders.
    pub fn new(common: &Common, job: &Job) -> Self {
        let path = job.env.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
        let path = absolute_path_entries(
            path.or_else(|| common.base.get(OsStr::new("PATH")).map(OsString::as_os_str)),
        );
        // The folders of the run itself are in no home.
        let folders = std::env::split_paths(&path).filter(|folder| !folder.starts_with(common.root.path()));
        let path = std::env::join_paths(folders).unwrap_or(path.clone());
        let first = job.args.first().cloned().unwrap_or_default();
        let cwd = if job.workspace.is_some() { OsString::new() } else { job.cwd.clone() };
        let key = [job.program.clone(), first, cwd, path];
        let mut known = common.home_views.borrow_mut();
        let mut view = known
            .entry(key)
            .or_insert_with_key(|[.., path]| Self::for_program_and_project(common, job, path))
            .clone();
        for path in &job.readable {
            view.add(Path::new(path), &common.homes);
        }
        view.hide_credentials(common, job);
        view
    }

    /// Creates a view of the paths that the program and the project of a job need, and of the programs in the folders
    /// of `path`, the value of PATH.
    fn for_program_and_project(common: &Common, job: &Job, path: &OsStr) -> Self {
        let homes = &common.homes;
        let mut view = Self::default();
        // If the program is an interpreter, its first argument is the script.
        let script =
            job.args.first().map(|word| Path::new(&job.cwd).join(word)).filter(|path| path.is_file());
        for program in [Some(PathBuf::from(&job.program)), script].into_iter().flatten() {
            view.add_program(program, path, homes);
        }
        // The path may contain symbolic links.
        view.follow(Path::new(&job.cwd), homes);
        for project in projects_of(job, homes) {
            let repository = repository_of_worktree(&project);
            if let Some(repository) = &repository {
                view.add(repository, homes);
            }
            view.add(&project, homes);
            let configurations = [Some(project.join(".git")), repository].into_iter().flatten();
            let configurations = configurations.map(|repository| repository.join("config"));
            view.hidden.extend(configurations.filter(|path| has_credentials(path)));
        }
        let named = TOOLCHAIN_VARIABLES.iter().filter_map(|name| common.caller.get(OsStr::new(name)));
        let default = homes.iter().flat_map(|home| TOOLCHAINS.iter().map(|name| home.join(name)));
        for path in default.chain(named.map(PathBuf::from)) {
            view.add(&path, homes);
        }
        let folders = absolute_entries(path).into_iter();
        for folder in folders.filter(|folder| folder.file_name().is_some_and(is_for_programs)) {
            view.add_programs(&folder, path, homes);
        }
        let all = view.visible.clone();
        view.visible.retain(|path| !path.ancestors().skip(1).any(|above| all.contains(above)));
        view
    }

    /// Makes a path visible if it lies in a home. Records the symbolic links on the way to it.
    fn add(&mut self, path: &Path, homes: &[PathBuf]) {
        let Some(path) = self.follow(path, homes) else { return };
        let is_home = homes.iter().any(|home| home.starts_with(&path));
        if !is_home && is_in(&path, homes) && path.exists() {
            self.visible.insert(path);
        }
    }

    /// Resolves a path and records those symbolic links on the way that lie in a home. `None` if there are too many
    /// links.
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
                        if steps > MAX_LINKS {
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

    /// Makes a program visible: the symbolic links on the way to it, its interpreter, and the installations of both.
    fn add_program(&mut self, program: PathBuf, path: &OsStr, homes: &[PathBuf]) {
        let mut next = Some(program);
        for _ in 0..MAX_LINKS {
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

    /// Makes the programs in a folder visible: the folder, the installation that it belongs to, and the targets of its
    /// symbolic links.
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

    /// Hides the credentials in the visible paths, and the files with credentials that the caller's variables name,
    /// such as `KUBECONFIG`.
    fn hide_credentials(&mut self, common: &Common, job: &Job) {
        let is_passed = |name: &str| job.env.iter().any(|(own, _)| own == name);
        let named = CREDENTIAL_VARIABLES.iter().filter(|name| !is_passed(name));
        let named = named.filter_map(|name| common.caller.get(OsStr::new(name)));
        let named = named.flat_map(|value| value.as_bytes().split(|byte| *byte == b':'));
        self.hidden.extend(
            named.map(|path| PathBuf::from(OsStr::from_bytes(path))).filter(|path| path.is_absolute()),
        );
        let moved = MOVING_VARIABLES.iter().filter_map(|(variable, folder)| {
            let to = Path::new(common.caller.get(OsStr::new(variable))?);
            let names = CREDENTIALS.iter().filter_map(|name| Path::new(name).strip_prefix(folder).ok());
            to.is_absolute().then(|| names.map(|name| to.join(name)).collect::<Vec<_>>())
        });
        self.hidden.extend(moved.flatten());
        let below = common.homes.iter().flat_map(|home| CREDENTIALS.iter().map(|name| home.join(name)));
        let is_visible = |path: &PathBuf| self.visible.iter().any(|visible| path.starts_with(visible));
        let below: Vec<PathBuf> = below.filter(is_visible).collect();
        self.hidden.extend(below);
        // The configuration may make credentials readable.
        self.hidden.retain(|path| !job.readable.iter().any(|shown| path.as_os_str() == shown));
    }
}

/// Returns the project around the start folder and the project of the target, which a run with a workspace may need as
/// well.
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

/// Returns the folder in a home in which a program is installed: the folder above `bin`, the outermost `node_modules`,
/// the program's project, or the folder that contains it. If many programs share that folder, returns the path of the
/// program itself, and `None` for a symbolic link.
fn installation_of(program: &Path, homes: &[PathBuf]) -> Option<PathBuf> {
    let home =
        homes.iter().filter(|home| program.starts_with(home)).max_by_key(|home| home.components().count())?;
    let is_shared = |folder: &Path| SHARED_FOLDERS.iter().any(|name| folder == home.join(name));
    let outermost =
        program.ancestors().filter(|path| path.file_name() == Some(OsStr::new("node_modules"))).last();
    let folder = program.parent()?;
    let installation = match outermost {
        Some(modules) => modules,
        None if folder.file_name().is_some_and(is_for_programs) => folder.parent()?,
        // A program that is linked for development may lie anywhere in its project.
        None => {
            let projects = folder.ancestors().take_while(|path| path.starts_with(home) && !is_shared(path));
            let is_project = |path: &&Path| PROJECT_FILES.iter().any(|name| path.join(name).exists());
            projects.into_iter().find(is_project).unwrap_or(folder)
        }
    };
    if installation.starts_with(home) && !is_shared(installation) {
        return Some(installation.to_owned());
    }
    program.symlink_metadata().is_ok_and(|found| found.is_file()).then(|| program.to_owned())
}

/// Returns the interpreter that the first line (`#!…`) of a script names, even by `env NAME`. `None` if the program is
/// not a script.
fn interpreter_of(program: &Path, path: &OsStr) -> Option<PathBuf> {
    let mut line = Vec::new();
    File::open(program).ok()?.take(MAX_SHEBANG_BYTES).read_to_end(&mut line).ok()?;
    let line = line.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let interpreter = PathBuf::from(OsString::from_vec(words.next()?.to_vec()));
    if interpreter.file_name() != Some(OsStr::new("env")) {
        return Some(interpreter);
    }
    let name = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='))?;
    absolute_entries(path)
        .into_iter()
        .map(|folder| folder.join(OsStr::from_bytes(name)))
        .find(|path| path.is_file())
}
