//! The changes of a run: the differences between two snapshots of its workspace and its home.

use serde::{Deserialize, Serialize};

/// What a run created, changed and removed. Times, owners and inodes are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Number of changes.
    pub count: usize,
    /// The first [`MAX_LISTED`](Self::MAX_LISTED) changes, ordered by area and path.
    pub list: Vec<FileChange>,
}

impl Changes {
    /// Maximum number of changes that are listed.
    pub const MAX_LISTED: usize = 1000;
}

/// A file, folder or link that differs between the snapshots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The area that contains it.
    pub area: Area,
    /// Path in the area, with invalid UTF-8 replaced; `.` is the folder itself.
    pub path: String,
    /// The entry before the run; `None` if it did not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<FileEntry>,
    /// The entry after the run; `None` if it no longer exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<FileEntry>,
}

/// A secret that a run revealed in plain text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leak {
    /// Where it appears.
    pub place: LeakPlace,
    /// How it is encoded.
    pub form: LeakEncoding,
}

/// A place where a secret appears.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeakPlace {
    /// Stdout, at this offset in bytes.
    Stdout(u64),
    /// Stderr, at this offset in bytes.
    Stderr(u64),
    /// A new or changed file: its area, its path there and its permission bits.
    File(Area, String, u32),
}

/// The encoding of a revealed secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeakEncoding {
    /// Not encoded.
    Plain,
    /// Base64, alone or as a part of a longer text.
    Base64,
    /// Percent encoding, as in a URL.
    Percent,
}

/// A folder that snapshots cover.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Area {
    /// The folder that a run starts in.
    Workspace,
    /// The home of the run.
    Home,
    /// The parent of the folders of the XDG variables, if they are not in the home.
    Xdg,
}

/// The entry at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Kind of the entry.
    pub kind: FileKind,
    /// Permission bits; 0 for a link.
    pub mode: u32,
    /// Size of a file, in bytes; 0 for other entries.
    #[serde(default)]
    pub size: u64,
    /// Digest of the contents of a file or of the target of a link: XXH3, 128 bits, hexadecimal. Empty for other
    /// entries.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// Digest of the keys and types, without the values, of a file that contains one JSON object or array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
}

/// The kind of an entry.
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
