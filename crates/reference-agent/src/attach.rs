//! The attachments of a query: text files and images.

use super::failure::{Code, Failure, Result};
use super::model::Image;
use base64::Engine as _;
use serde::{Deserialize, Serialize};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// One attached file, as the output describes it.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub struct Attached {
    /// Path of the file, as it was passed with `--attach`.
    pub path: String,
    /// Size of the file in bytes.
    pub size: u64,
    /// Media type of the file.
    #[serde(rename = "type")]
    pub mime: &'static str,
}

impl Attached {
    pub fn is_image(&self) -> bool {
        self.mime.starts_with("image/")
    }
}

/// The table `[attachments]` of the configuration file: limits of the attachments. The types are signed, so that a
/// value below 1 gets a specific error instead of a type error.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Maximum number of text files.
    pub max_files: i64,
    pub max_images: i64,
    /// Maximum size of one attachment, in bytes.
    pub max_bytes: i64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_files: 10, max_images: 5, max_bytes: 1 << 20 }
    }
}

/// The attachments of a query, with their contents.
#[derive(Debug, Default)]
pub struct Attachments {
    /// All attachments, in the order of the command line.
    pub list: Vec<Attached>,
    /// Contents of the text files, in the form that the model receives.
    pub text: String,
    pub images: Vec<Image>,
}

/// First bytes of a file and the media type that they identify, for each image format except WebP.
const IMAGE_SIGNATURES: &[(&[u8], &str)] =
    &[(b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif")];

/// Reads the files that are attached to the query, within the limits.
///
/// # Errors
/// Fails with one of the `ATTACHMENT_*` codes.
pub fn read(paths: &[PathBuf], limits: Limits) -> Result<Attachments> {
    let mut attachments = Attachments::default();
    for path in paths {
        let bytes = read_file(path, limits.max_bytes.unsigned_abs())?;
        let size = bytes.len() as u64;
        let name = path.display().to_string();
        let mime = if let Some(mime) = image_type(&bytes) {
            let base64 = base64::engine::general_purpose::STANDARD.encode(&bytes);
            attachments.images.push(Image { mime, base64 });
            mime
        } else {
            let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
            let Some(text) = text else {
                let message = format!("{name} is neither text nor a PNG, JPEG, GIF or WebP image");
                return Err(Failure::new(Code::AttachmentTypeUnsupported, message));
            };
            attachments.text.push_str(&format!("\n\n--- {name} ---\n{text}"));
            "text/plain"
        };
        attachments.list.push(Attached { path: name, size, mime });
        let (images, files) = (attachments.images.len(), attachments.list.len() - attachments.images.len());
        check_count(images, limits.max_images, "images", Code::AttachmentTooManyImages)?;
        check_count(files, limits.max_files, "files", Code::AttachmentTooManyFiles)?;
    }
    Ok(attachments)
}

fn check_count(count: usize, limit: i64, what: &str, code: Code) -> Result<()> {
    if count as u64 > limit.unsigned_abs() {
        return Err(Failure::new(code, format!("more than {limit} {what} are attached")));
    }
    Ok(())
}

fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>> {
    let failure = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => {
            Failure::new(Code::AttachmentNotFound, format!("attached file not found: {}", path.display()))
        }
        _ => Failure::from_io(Code::AttachmentUnreadable, &format!("cannot read {}", path.display()), &error),
    };
    // Pipes are rejected before they are opened, because opening one waits for its writer.
    if !std::fs::metadata(path).map_err(failure)?.is_file() {
        let message = format!("cannot read {}: not a regular file", path.display());
        return Err(Failure::new(Code::AttachmentUnreadable, message));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(failure)?;
    file.take(limit + 1).read_to_end(&mut bytes).map_err(failure)?;
    if bytes.len() as u64 > limit {
        let message = format!("{} is larger than {limit} bytes", path.display());
        return Err(Failure::new(Code::AttachmentTooLarge, message));
    }
    Ok(bytes)
}

fn image_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return Some("image/webp");
    }
    IMAGE_SIGNATURES.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, mime)| *mime)
}
