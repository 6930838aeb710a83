//! Changes of files by a run: the differences between two snapshots of its workspace and its home.

use serde::{Deserialize, Serialize};

/// Files that a run created, changed or removed. Differences in times, owners and inodes do not count.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Total number of changes, including those that are not in `list`.
    pub count: usize,
    /// The first [`MAX_LISTED`](Self::MAX_LISTED) changes, ordered by area and then by path.
    pub list: Vec<FileChange>,
}

impl Changes {
    /// Maximum length of [`Changes::list`].
    pub const MAX_LISTED: usize = 1000;
}

/// A file, folder or symbolic link that a run created, changed or removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The folder of the run that contains the file.
    pub area: Area,
    /// Path of the file, relative to the folder in `area`. Invalid UTF-8 is replaced; `.` is that folder itself.
    pub path: String,
    /// State of the file before the run; `None` if it did not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<FileEntry>,
    /// State of the file after the run; `None` if it no longer exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<FileEntry>,
}

/// A place in the output or the files of a run that reveals the secret of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leak {
    /// The stream or file that contains the secret.
    pub place: LeakPlace,
    /// The encoding of the secret in that place.
    pub form: LeakEncoding,
}

/// A stream or file in which a run revealed its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeakPlace {
    /// Stdout; the secret begins at this offset in bytes.
    Stdout(u64),
    /// Stderr; the secret begins at this offset in bytes.
    Stderr(u64),
    /// A new or changed file: the folder that contains it, its path in that folder, and its permission bits.
    File(Area, String, u32),
}

/// The encoding in which a run revealed its secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeakEncoding {
    /// The secret itself, not encoded.
    Plain,
    /// Base64 of the secret, or of a longer text that contains it.
    Base64,
    /// Percent encoding, as in the URL `/?key=a%2Fb`.
    Percent,
}

/// A folder of a run whose files are compared before and after the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Area {
    /// The workspace: a fresh folder that the run starts in.
    Workspace,
    /// The fresh home folder of the run.
    Home,
    /// The folder that contains the folders of the XDG variables, such as `XDG_CONFIG_HOME`, if these are not in the
    /// home.
    Xdg,
}

/// The state of a file, folder or symbolic link at one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Whether the entry is a file, a folder, a symbolic link or something else.
    pub kind: FileKind,
    /// Permission bits, such as `0o644`; 0 for a symbolic link.
    pub mode: u32,
    /// Size of a regular file in bytes; 0 for all other kinds.
    #[serde(default)]
    pub size: u64,
    /// Digest of the contents of a file, or of the target of a symbolic link: XXH3, 128 bits, hexadecimal. Empty for
    /// other kinds.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// Digest of the keys and types in a file that contains one JSON object or array, without the values. `None` for
    /// other files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
}

/// The kind of an entry in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, socket or device.
    Other,
}
