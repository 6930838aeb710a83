//! Slots on a system where no helper can be started.

/// Slots for runs that several helpers share: uninhabited on this system.
#[derive(Debug, Clone)]
pub enum Slots {}
