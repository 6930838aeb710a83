//! Limits that the parser and the clean reader share.

/// Maximum length of a key that a sink receives, in bytes; longer keys are cut.
pub(super) const MAX_KEY: usize = 16 * 1024;
/// Largest integer that binary64 distinguishes from its neighbours (RFC 7493, section 2.2).
pub(super) const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
