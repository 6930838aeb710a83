//! Slots on a system where no helper can be started.

/// Slots for runs that several helpers share. The type has no values on this system, where no helper can be started.
#[derive(Debug, Clone)]
pub enum Slots {}
