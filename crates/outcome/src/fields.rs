//! Which members of an event are needed, as a table.

/// Declares the fields, each with the places where it is.
macro_rules! fields {
    ($($field:ident: $($place:literal),+;)+) => {
        /// A member that is needed. Events of several dialects fill the same one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Field { $($field,)+ }

        /// Where each field is: keys with dots between, the first of which may be one of [`SHARED`]; `*`
        /// stands for each element of an array. Of several places of a field the last one that is there
        /// counts.
        pub(super) const FIELDS: &[(Field, &[&str])] = &[$((Field::$field, &[$($place),+]),)+];
    };
}

fields! {
    Type: "type";
    Timestamp: "timestamp";
    Session: "sessionID", "properties.sessionID";
    Info: "properties.info";
    InfoId: "properties.info.id";
    InfoSession: "properties.info.sessionID";
    InfoParent: "properties.info.parentID";
    Role: "properties.info.role";
    Created: "properties.info.time.created";
    Updated: "properties.info.time.updated";
    Completed: "properties.info.time.completed";
    Model: "properties.info.modelID";
    Provider: "properties.info.providerID";
    Version: "properties.info.version";
    Cost: "properties.info.cost";
    TokensIn: "properties.info.tokens.input";
    TokensOut: "properties.info.tokens.output";
    StepCost: "{part}.cost";
    StepIn: "{part}.tokens.input";
    StepOut: "{part}.tokens.output";
    StepReasoning: "{part}.tokens.reasoning";
    StepCacheRead: "{part}.tokens.cache.read";
    StepCacheWrite: "{part}.tokens.cache.write";
    Finish: "properties.info.finish", "part.reason";
    StatusType: "properties.status.type";
    StatusMessage: "properties.status.message";
    StatusAttempt: "properties.status.attempt";
    Path: "properties.path", "properties.file";
    WatchKind: "properties.event";
    DiffPath: "properties.diff.file", "{part}.state.metadata.filediff.file";
    DiffBefore: "properties.diff.before", "{part}.state.metadata.filediff.before";
    DiffAfter: "properties.diff.after", "{part}.state.metadata.filediff.after";
    PermissionId: "properties.id";
    PermissionTitle: "properties.title";
    PermissionKind: "properties.type", "properties.permission";
    PermissionPatterns: "properties.pattern", "properties.pattern.*", "properties.patterns.*";
    RepliedTo: "properties.permissionID", "properties.requestID";
    Reply: "properties.response", "properties.reply";
    DeltaText: "properties.delta";
    DeltaName: "properties.field";
    DeltaPart: "properties.partID";
    Error: "{error}";
    ErrorName: "{error}.name";
    ErrorText: "{error}.message", "{error}.data.message";
    ErrorStack: "{error}.stack", "{error}.data.stack";
    ErrorFile: "{error}.data.path", "{error}.data.file";
    ErrorLine: "{error}.data.line";
    ErrorStatus: "{error}.statusCode", "{error}.data.statusCode";
    ErrorRetryable: "{error}.isRetryable", "{error}.data.isRetryable";
    Part: "{part}";
    PartId: "{part}.id";
    PartSession: "{part}.sessionID";
    PartMessage: "{part}.messageID";
    PartType: "{part}.type";
    Text: "{part}.text";
    CallId: "{part}.callID";
    Tool: "{part}.tool";
    ToolStatus: "{part}.state.status";
    ToolStart: "{part}.state.time.start";
    ToolEnd: "{part}.state.time.end";
    ToolInput: "{part}.state.input";
    ToolOutput: "{part}.state.output";
    ToolError: "{part}.state.error";
    ToolPath: "{part}.state.input.path", "{part}.state.input.file_path", "{part}.state.input.filePath",
        "{part}.state.metadata.filepath";
    ToolContent: "{part}.state.input.content";
    ToolExists: "{part}.state.metadata.exists";
    PatchPaths: "{part}.state.metadata.files.*.filePath";
    PatchKinds: "{part}.state.metadata.files.*.type";
    Mime: "{part}.mime";
    FileName: "{part}.filename";
    FilePath: "{part}.source.path";
    FileSource: "{part}.source";
    SourceType: "{part}.source.type";
    SourceText: "{part}.source.text";
    SourceValue: "{part}.source.text.value";
    SourceStart: "{part}.source.text.start";
    SourceEnd: "{part}.source.text.end";
    FileUrl: "{part}.url";
}

/// Where errors are, of sessions, messages and runs, and where parts are, of both dialects.
const SHARED: [(&str, &[&str]); 2] = [
    ("{error}", &["error", "properties.error", "properties.info.error"]),
    ("{part}", &["part", "properties.part"]),
];

/// The keys on each of the ways that a place of [`FIELDS`] stands for.
pub(super) fn ways(place: &'static str) -> impl Iterator<Item = impl Iterator<Item = &'static str>> {
    let shared = SHARED.into_iter().find_map(|(name, above)| Some((above, place.strip_prefix(name)?)));
    let (above, below) = shared.unwrap_or((&[""], place));
    let keys =
        move |above: &&'static str| above.split('.').chain(below.split('.')).filter(|key| !key.is_empty());
    above.iter().map(keys)
}

/// What is kept of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    /// Up to this many bytes.
    Bytes(usize),
    /// Up to [`MAX_NAME`] bytes, or [`MAX_TEXT`] if inputs and outputs were asked for.
    Short,
    /// Its length only.
    Length,
    /// Nothing, unless inputs and outputs were asked for.
    Full,
}

/// A longer text of the stream is cut here, in bytes: what is made of one event stays small whatever
/// the event is.
pub(super) const MAX_TEXT: usize = 1 << 20;
pub(super) const MAX_NAME: usize = 4 << 10;

impl Field {
    pub(super) const fn keep(self) -> Keep {
        match self {
            Self::Text | Self::DeltaText | Self::ErrorText | Self::ErrorStack => Keep::Bytes(MAX_TEXT),
            Self::ToolContent | Self::DiffBefore | Self::DiffAfter => Keep::Length,
            Self::ToolInput | Self::ToolOutput => Keep::Full,
            Self::SourceValue => Keep::Short,
            _ => Keep::Bytes(MAX_NAME),
        }
    }
}
