//! Limits that all readers of a record share.

/// A sink gets this many bytes of a key.
pub(super) const MAX_KEY: usize = 16 * 1024;
/// The largest integer that binary64 readers keep apart from its neighbours (RFC 7493, section 2.2).
pub(super) const MAX_SAFE: u64 = (1 << 53) - 1;
