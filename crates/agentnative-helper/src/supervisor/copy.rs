//! Copies a folder: what a run starts with, and the template of it.

use std::fs::{self, DirBuilder, File, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::Path;

/// Copies what is in the folder `from` into the folder `to`, with permissions and times. Links stay links.
pub(super) fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()), &entry.metadata()?)?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path, metadata: &Metadata) -> io::Result<()> {
    let kind = metadata.file_type();
    if kind.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if kind.is_dir() {
        DirBuilder::new().mode(0o700).create(to)?;
        copy_folder(from, to)?;
        fs::set_permissions(to, metadata.permissions())?;
    } else if kind.is_file() {
        fs::copy(from, to)?;
    } else {
        let message = format!("{} is neither a file nor a folder nor a link", from.display());
        return Err(io::Error::new(io::ErrorKind::Unsupported, message));
    }
    File::open(to)?.set_modified(metadata.modified()?)
}
