//! Which members of an event are needed, as a table.

/// A member that is needed. Events of several dialects fill the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Field {
    Type,
    Timestamp,
    Session,
    Info,
    InfoId,
    InfoSession,
    InfoParent,
    Role,
    Created,
    Updated,
    Completed,
    Model,
    Provider,
    Cost,
    TokensIn,
    TokensOut,
    Finish,
    Error,
    ErrorName,
    ErrorText,
    ErrorStack,
    ErrorFile,
    ErrorLine,
    Part,
    PartId,
    PartSession,
    PartMessage,
    PartType,
    Text,
    CallId,
    Tool,
    ToolStatus,
    ToolStart,
    ToolEnd,
    ToolInput,
    ToolOutput,
    ToolError,
    ToolPath,
    ToolContent,
    ToolExists,
    DiffPath,
    DiffBefore,
    DiffAfter,
    PatchPaths,
    PatchKinds,
    Mime,
    FileName,
    FilePath,
    FileUrl,
    DeltaText,
    DeltaName,
    DeltaPart,
    StatusType,
    StatusMessage,
    StatusAttempt,
    Path,
    WatchKind,
    PermissionId,
    PermissionTitle,
    PermissionKind,
    PermissionPatterns,
    RepliedTo,
    Reply,
}

/// How many fields there are.
pub(super) const COUNT: usize = Field::Reply as usize + 1;

/// What is kept of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// Up to this many bytes.
    Bytes(usize),
    /// Its length only.
    Length,
    /// Nothing, unless inputs and outputs were asked for.
    Full,
}

/// A longer text of the stream is cut here, in bytes: what is made of one event stays small whatever
/// the event is.
pub(super) const MAX_TEXT: usize = 1 << 20;
const MAX_NAME: usize = 4 << 10;

impl Field {
    pub(super) const fn keep(self) -> Keep {
        match self {
            Self::Text | Self::DeltaText | Self::ErrorText | Self::ErrorStack => Keep::Bytes(MAX_TEXT),
            Self::ToolContent | Self::DiffBefore | Self::DiffAfter => Keep::Length,
            Self::ToolInput | Self::ToolOutput => Keep::Full,
            _ => Keep::Bytes(MAX_NAME),
        }
    }
}

/// Where each field is: keys with dots between; `*` stands for each element of an array. Of several
/// places of a field the last one that is there counts.
pub(super) const PLACES: &[(&str, Field)] = &[
    ("type", Field::Type),
    ("timestamp", Field::Timestamp),
    ("sessionID", Field::Session),
    ("properties.sessionID", Field::Session),
    ("properties.info", Field::Info),
    ("properties.info.id", Field::InfoId),
    ("properties.info.sessionID", Field::InfoSession),
    ("properties.info.parentID", Field::InfoParent),
    ("properties.info.role", Field::Role),
    ("properties.info.time.created", Field::Created),
    ("properties.info.time.updated", Field::Updated),
    ("properties.info.time.completed", Field::Completed),
    ("properties.info.modelID", Field::Model),
    ("properties.info.providerID", Field::Provider),
    ("properties.info.cost", Field::Cost),
    ("properties.info.tokens.input", Field::TokensIn),
    ("properties.info.tokens.output", Field::TokensOut),
    ("properties.info.finish", Field::Finish),
    ("properties.status.type", Field::StatusType),
    ("properties.status.message", Field::StatusMessage),
    ("properties.status.attempt", Field::StatusAttempt),
    ("properties.path", Field::Path),
    ("properties.file", Field::Path),
    ("properties.event", Field::WatchKind),
    ("properties.diff.file", Field::DiffPath),
    ("properties.diff.before", Field::DiffBefore),
    ("properties.diff.after", Field::DiffAfter),
    ("properties.id", Field::PermissionId),
    ("properties.title", Field::PermissionTitle),
    ("properties.type", Field::PermissionKind),
    ("properties.permission", Field::PermissionKind),
    ("properties.pattern", Field::PermissionPatterns),
    ("properties.pattern.*", Field::PermissionPatterns),
    ("properties.patterns.*", Field::PermissionPatterns),
    ("properties.permissionID", Field::RepliedTo),
    ("properties.requestID", Field::RepliedTo),
    ("properties.response", Field::Reply),
    ("properties.reply", Field::Reply),
    ("properties.delta", Field::DeltaText),
    ("properties.field", Field::DeltaName),
    ("properties.partID", Field::DeltaPart),
    ("part.cost", Field::Cost),
    ("part.tokens.input", Field::TokensIn),
    ("part.tokens.output", Field::TokensOut),
    ("part.reason", Field::Finish),
];

/// Places that the errors of sessions, messages and runs share; each is below one of [`ERRORS`].
pub(super) const ERROR_PLACES: &[(&str, Field)] = &[
    ("", Field::Error),
    ("name", Field::ErrorName),
    ("message", Field::ErrorText),
    ("stack", Field::ErrorStack),
    ("data.message", Field::ErrorText),
    ("data.stack", Field::ErrorStack),
    ("data.path", Field::ErrorFile),
    ("data.file", Field::ErrorFile),
    ("data.line", Field::ErrorLine),
];

/// Where errors are.
pub(super) const ERRORS: &[&str] = &["error", "properties.error", "properties.info.error"];

/// Places that the parts of both dialects share; each is below one of [`PARTS`].
pub(super) const PART_PLACES: &[(&str, Field)] = &[
    ("", Field::Part),
    ("id", Field::PartId),
    ("sessionID", Field::PartSession),
    ("messageID", Field::PartMessage),
    ("type", Field::PartType),
    ("text", Field::Text),
    ("callID", Field::CallId),
    ("tool", Field::Tool),
    ("state.status", Field::ToolStatus),
    ("state.time.start", Field::ToolStart),
    ("state.time.end", Field::ToolEnd),
    ("state.input", Field::ToolInput),
    ("state.output", Field::ToolOutput),
    ("state.error", Field::ToolError),
    ("state.input.path", Field::ToolPath),
    ("state.input.file_path", Field::ToolPath),
    ("state.input.filePath", Field::ToolPath),
    ("state.input.content", Field::ToolContent),
    ("state.metadata.filepath", Field::ToolPath),
    ("state.metadata.exists", Field::ToolExists),
    ("state.metadata.filediff.file", Field::DiffPath),
    ("state.metadata.filediff.before", Field::DiffBefore),
    ("state.metadata.filediff.after", Field::DiffAfter),
    ("state.metadata.files.*.filePath", Field::PatchPaths),
    ("state.metadata.files.*.type", Field::PatchKinds),
    ("mime", Field::Mime),
    ("filename", Field::FileName),
    ("source.path", Field::FilePath),
    ("url", Field::FileUrl),
];

/// Where parts are.
pub(super) const PARTS: &[&str] = &["part", "properties.part"];
