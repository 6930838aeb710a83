//! Reads the mounts of this mount namespace from `/proc/self/mountinfo`.

use rustix::mount::MountFlags;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// A mount of this mount namespace.
pub(super) struct Mount {
    /// The folder or file that the mount covers.
    pub point: PathBuf,
    /// Flags of the mount that a remount has to keep.
    pub flags: MountFlags,
    /// Type of the mounted file system, such as `ext4`.
    pub kind: String,
}

/// Returns all mounts of this mount namespace.
pub(super) fn mounts() -> io::Result<Vec<Mount>> {
    let flag = |word: &str| match word {
        "nosuid" => MountFlags::NOSUID,
        "nodev" => MountFlags::NODEV,
        "noexec" => MountFlags::NOEXEC,
        "noatime" => MountFlags::NOATIME,
        "nodiratime" => MountFlags::NODIRATIME,
        "relatime" => MountFlags::RELATIME,
        _ => MountFlags::empty(),
    };
    let list = fs::read("/proc/self/mountinfo")?;
    let mount = |line: &[u8]| {
        let mut words = line.split(|byte| *byte == b' ');
        let (point, options) = (words.nth(4)?, std::str::from_utf8(words.next()?).ok()?);
        let kind = words.skip_while(|word| *word != b"-").nth(1)?;
        Some(Mount {
            point: unescape(point),
            flags: options.split(',').map(flag).fold(MountFlags::empty(), |all, one| all | one),
            // Some types include the program that serves them: `fuse.sshfs`.
            kind: String::from_utf8_lossy(kind).into_owned(),
        })
    };
    Ok(list.split(|byte| *byte == b'\n').filter_map(mount).collect())
}

/// Returns whether there are mounts below a folder.
pub(crate) fn has_mounts_below(folder: &Path) -> io::Result<bool> {
    let folder = folder.canonicalize()?;
    Ok(mounts()?.iter().any(|mount| mount.point != folder && mount.point.starts_with(&folder)))
}

/// Decodes a path of `/proc/self/mountinfo`. The kernel escapes blanks and backslashes in it by `\` and three octal
/// digits.
fn unescape(text: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, others)) = rest.split_first() {
        let octal = others
            .first_chunk::<3>()
            .filter(|digits| *first == b'\\' && digits.iter().all(|d| (b'0'..b'8').contains(d)));
        match octal {
            Some(digits) => {
                path.push(
                    digits.iter().fold(0_u8, |value, digit| value.wrapping_mul(8).wrapping_add(digit - b'0')),
                );
                rest = &others[3..];
            }
            None => {
                path.push(*first);
                rest = others;
            }
        }
    }
    OsString::from_vec(path).into()
}

#[cfg(test)]
mod tests {
    use super::unescape;
    use std::path::Path;

    #[test]
    fn escapes_of_the_kernel_are_decoded() {
        assert_eq!(unescape(br"/a\040b\134\011c"), Path::new("/a b\\\tc"));
        assert_eq!(unescape(br"/a\04"), Path::new(r"/a\04"));
    }
}
