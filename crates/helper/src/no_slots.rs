//! Slots where nobody starts a helper.

/// Slots for runs that several helpers share: none, where no helper can be started.
#[derive(Debug, Clone)]
pub enum Slots {}
