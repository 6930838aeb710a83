//! Tokens that the grammar expects next, and the value that a problem refers to.

/// The value that the pointer of a problem names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// The current member or element.
    Value,
    /// The innermost open container.
    Container,
    /// The document or record.
    Root,
}

/// What the grammar expects next.
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

    /// Returns the value that a problem at this point concerns.
    pub(super) fn scope(self) -> Scope {
        match self {
            Self::KeyOrEnd | Self::Key | Self::CommaOrBrace | Self::CommaOrBracket | Self::KeyText => {
                Scope::Container
            }
            _ => Scope::Value,
        }
    }

    /// Whether a token that begins with this byte may come next.
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
