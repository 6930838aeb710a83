//! What a run changed: the difference between two snapshots of its workspace and its home.

use serde::{Deserialize, Serialize};

/// What a run made, changed and removed. Times, owners and inodes are not looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// How many there are.
    pub count: usize,
    /// The first [`MOST`](Self::MOST) of them: those of the workspace before those of the home, by their paths.
    pub list: Vec<Change>,
}

impl Changes {
    /// No more of them are listed.
    pub const MOST: usize = 1000;
}

/// One file, folder or link that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Where it is.
    pub area: Area,
    /// Its path there, with what is no UTF-8 replaced; `.` is the folder itself.
    pub path: String,
    /// What it was; none where there was nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Entry>,
    /// What it is; none where there is nothing any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Entry>,
}

/// Where a secret was seen in the open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leak {
    /// Where it was.
    pub place: LeakPlace,
    /// How it was spelt.
    pub form: LeakForm,
}

/// Where a secret can be seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeakPlace {
    /// On standard output, at this byte.
    Stdout(u64),
    /// On standard error, at this byte.
    Stderr(u64),
    /// In a file that is new or changed: its area, its path there and its permission bits.
    File(Area, String, u32),
}

/// How a secret can be spelt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeakForm {
    /// As it is.
    Plain,
    /// In Base64, alone or as a part of something.
    Base64,
    /// With percent signs, as in a URL.
    Percent,
}

/// A folder that snapshots are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Area {
    /// The folder that a run started in.
    Workspace,
    /// Its home.
    Home,
    /// The parent of the folders of the XDG variables, where that is not the home.
    Xdg,
}

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// What it is.
    pub kind: EntryKind,
    /// Its permission bits; 0 for a link.
    pub mode: u32,
    /// The size of a file, in bytes; else 0.
    #[serde(default)]
    pub size: u64,
    /// The digest of what a file holds or where a link leads: XXH3, 128 bits, in hexadecimal digits. Empty for others.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// Of a file that holds one JSON object or array, the digest of its keys and types without its values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
}

/// What can be at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A pipe, a socket, a device.
    Other,
}
