//! The tokens that the JSON grammar expects next, and the value to which a problem refers.

/// Selects the value to which the pointer of a problem refers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// The member or element that is being read.
    Value,
    /// The innermost object or array whose end has not been read.
    Container,
    /// The complete document or record.
    Root,
}

/// The token that the JSON grammar expects next.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    Value,
    ElementOrEnd,
    KeyOrEnd,
    Key,
    Colon,
    CommaOrBrace,
    CommaOrBracket,
    KeyText,
    StringText,
    Digit,
    Literal,
    End,
}

impl Expected {
    pub(super) fn description(self) -> &'static str {
        match self {
            Self::Value => "a JSON value",
            Self::ElementOrEnd => "a JSON value or `]`",
            Self::KeyOrEnd => "a key in double quotes or `}`",
            Self::Key => "a key in double quotes",
            Self::Colon => "`:` after the key",
            Self::CommaOrBrace => "`,` or `}`",
            Self::CommaOrBracket => "`,` or `]`",
            Self::KeyText | Self::StringText => "the closing quote of a string",
            Self::Digit => "a digit",
            Self::Literal => "the rest of `true`, `false` or `null`",
            Self::End => "only white space after the document",
        }
    }

    /// Returns the value to which a problem refers if this token is missing.
    pub(super) fn scope(self) -> Scope {
        match self {
            Self::KeyOrEnd | Self::Key | Self::CommaOrBrace | Self::CommaOrBracket | Self::KeyText => {
                Scope::Container
            }
            _ => Scope::Value,
        }
    }

    /// Returns whether the expected token can begin with `byte`.
    pub(super) fn admits(self, byte: u8) -> bool {
        match self {
            Self::Value => matches!(byte, b'"' | b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n'),
            Self::ElementOrEnd => byte == b']' || Self::Value.admits(byte),
            Self::KeyOrEnd => matches!(byte, b'"' | b'}'),
            Self::Key => byte == b'"',
            Self::Colon => byte == b':',
            Self::CommaOrBrace => matches!(byte, b',' | b'}'),
            Self::CommaOrBracket => matches!(byte, b',' | b']'),
            Self::KeyText | Self::StringText | Self::Digit | Self::Literal | Self::End => false,
        }
    }
}
