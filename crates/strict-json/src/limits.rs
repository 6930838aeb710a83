//! Limits that apply to every way of reading a record.

/// Maximum length in an event of the text of a key, in bytes; longer keys are cut.
pub(super) const MAX_KEY: usize = 16 * 1024;
/// Largest integer that binary64 distinguishes from its neighbours (RFC 7493, section 2.2).
pub(super) const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
