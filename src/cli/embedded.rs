//! Files of `examples/` inside the program.

/// A file: its path in its folder, and its text.
pub(super) type File = (&'static str, &'static str);

/// Returns the files with these paths in a folder, which is named by its path in the repository.
macro_rules! files {
    ($folder:literal: $($path:literal)*) => {
        &[$(($path, include_str!(concat!("../../", $folder, "/", $path)))),*]
    };
}

pub(super) use files;
