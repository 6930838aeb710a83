//! Table of the values in events that the mappers of opencode need.

/// Declares the enum `Field` and the table `FIELDS`. The paths of a field are where events contain it.
macro_rules! fields {
    ($($field:ident: $($path:literal),+;)+) => {
        /// A value in an event that mappers need. Events of several dialects may fill the same field.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Field { $($field,)+ }

        /// The paths of each field in an event: keys separated by dots. The first key may be an alias of [`ALIASES`];
        /// `*` stands for each element of an array. If an event contains several paths of a field, the last one counts.
        pub(super) const FIELDS: &[(Field, &[&str])] = &[$((Field::$field, &[$($path),+]),)+];
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
    TokensReasoning: "properties.info.tokens.reasoning";
    TokensCacheRead: "properties.info.tokens.cache.read";
    TokensCacheWrite: "properties.info.tokens.cache.write";
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

/// Aliases with which a path may begin: `{error}` for errors of sessions, messages and runs, `{part}` for parts of
/// messages in both dialects of opencode.
const ALIASES: [(&str, &[&str]); 2] = [
    ("{error}", &["error", "properties.error", "properties.info.error"]),
    ("{part}", &["part", "properties.part"]),
];

/// Expands the alias with which a path of [`FIELDS`] may begin. Returns the keys of each resulting path.
pub(super) fn expand_path(path: &'static str) -> impl Iterator<Item = impl Iterator<Item = &'static str>> {
    let expanded =
        ALIASES.into_iter().find_map(|(alias, prefixes)| Some((prefixes, path.strip_prefix(alias)?)));
    let (prefixes, suffix) = expanded.unwrap_or((&[""], path));
    let keys =
        move |prefix: &&'static str| prefix.split('.').chain(suffix.split('.')).filter(|key| !key.is_empty());
    prefixes.iter().map(keys)
}

/// How much of a text is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextLimit {
    /// Up to this many bytes.
    Bytes(usize),
    /// Up to [`MAX_NAME`] bytes, or [`MAX_TEXT`] if inputs and outputs are kept.
    Name,
    /// Nothing; only the length of the text is kept.
    Length,
    /// Up to [`MAX_TEXT`] bytes if inputs and outputs are kept, otherwise nothing.
    OnlyFull,
}

/// Maximum length of a text, in bytes; longer texts are truncated, so that one event needs little memory.
pub(super) const MAX_TEXT: usize = 1 << 20;
/// Maximum length of a name or id, in bytes.
pub(super) const MAX_NAME: usize = 4 << 10;

impl Field {
    pub(super) const fn text_limit(self) -> TextLimit {
        match self {
            Self::Text | Self::DeltaText | Self::ErrorText | Self::ErrorStack => TextLimit::Bytes(MAX_TEXT),
            Self::ToolContent | Self::DiffBefore | Self::DiffAfter => TextLimit::Length,
            Self::ToolInput | Self::ToolOutput => TextLimit::OnlyFull,
            Self::SourceValue => TextLimit::Name,
            _ => TextLimit::Bytes(MAX_NAME),
        }
    }
}
