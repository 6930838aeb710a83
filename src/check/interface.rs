//! Whether a session reads the interface of its target, and with which older interface it is compared.

use agentnative_diff::interface::ProgramInterface;
use agentnative_diff::lock::Lock;

/// When a session reads the interface of its target from all help pages.
#[derive(Debug, Clone, Default)]
pub enum InterfaceReading {
    /// If the lock of the target contains an interface.
    #[default]
    IfLocked,
    /// Always.
    Always,
    /// Always; options of this older interface that vanished from the help are tried.
    ComparedWith(Box<ProgramInterface>),
}

/// Reading of an interface.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadsInterface<'a> {
    /// The older interface whose vanished options are tried.
    pub reference: Option<&'a ProgramInterface>,
}

impl InterfaceReading {
    /// Returns how to read the interface of a target with this lock; `None` if it is not read.
    pub(super) fn of_target<'a>(&'a self, lock: Option<&'a Lock>) -> Option<ReadsInterface<'a>> {
        let locked = lock.and_then(|lock| lock.interface.as_ref());
        match self {
            Self::IfLocked => locked.map(|locked| ReadsInterface { reference: Some(locked) }),
            Self::Always => Some(ReadsInterface { reference: locked }),
            Self::ComparedWith(reference) => Some(ReadsInterface { reference: Some(reference) }),
        }
    }
}
