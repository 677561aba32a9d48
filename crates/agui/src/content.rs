//! Content of user and tool messages: text or a list of parts.

use crate::fields::{self, Fields, ReadError};
use crate::json::RawJson;
use crate::text::{Escaped, decode_token};
use crate::write::push_array;

/// What a message holds that may be more than text.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Text(Escaped),
    Parts(Vec<ContentPart>),
}

impl Content {
    pub(crate) fn from_checked(json: &str) -> Result<Self, ReadError> {
        match json.as_bytes().first() {
            Some(b'"') => fields::escaped(json).map(Self::Text),
            Some(b'[') => fields::known_array(json, ContentPart::from_checked).map(Self::Parts),
            _ => Err(ReadError::new(fields::wrong("a string or an array", json))),
        }
    }

    /// Writes the string or the array of parts.
    pub fn write(&self, out: &mut String) {
        match self {
            Self::Text(text) => text.write(out),
            Self::Parts(parts) => {
                push_array(out, parts, |part, out| out.push_str(part.json.as_str()))
            }
        }
    }

    /// The text alone: of parts, those of kind text in their order, with nothing in between.
    pub fn text(&self) -> Escaped {
        match self {
            Self::Text(text) => text.clone(),
            Self::Parts(parts) => {
                let mut joined = Escaped::new();
                for part in parts {
                    if let PartBody::Text { text } = &part.body {
                        joined.push(text);
                    }
                }
                joined
            }
        }
    }
}

/// One part, with the bytes it came in (retired `binary` parts in translated form).
#[derive(Clone, Debug, PartialEq)]
pub struct ContentPart {
    pub json: RawJson,
    pub body: PartBody,
}

impl ContentPart {
    /// `None` is a part that the protocol does not describe.
    pub(crate) fn from_checked(json: &str) -> Result<Option<Self>, ReadError> {
        let fields = Fields::of(json)?;
        let Some(body) = PartBody::from_fields(&fields)? else {
            return Ok(None);
        };
        fields.read_if("id", fields::text)?;
        fields.read_if("metadata", fields::any_but_null)?;
        Ok(Some(Self {
            json: fields::any(json)?,
            body,
        }))
    }
}

/// What a part says, by kind.
#[derive(Clone, Debug, PartialEq)]
pub enum PartBody {
    Text { text: Escaped },
    Media { kind: MediaKind, source: Source },
}

impl PartBody {
    fn from_fields(fields: &Fields<'_>) -> Result<Option<Self>, ReadError> {
        let kind = match fields::tag(fields, "type").as_deref() {
            Some("text") => {
                return Ok(Some(Self::Text {
                    text: fields.read("text", fields::escaped)?,
                }));
            }
            Some("audio") => MediaKind::Audio,
            Some("document") => MediaKind::Document,
            Some("image") => MediaKind::Image,
            Some("video") => MediaKind::Video,
            _ => return Ok(None),
        };
        // The part cannot stand without its source: an undescribed source takes the part with it.
        let source = fields.read("source", Source::from_checked)?;
        Ok(source.map(|source| Self::Media { kind, source }))
    }
}

/// The kinds of part that have a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaKind {
    Audio,
    Document,
    Image,
    Video,
}

/// Where a media part's bytes are; nothing is ever fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Data {
        mime_type: Box<str>,
    },
    File {
        provider: Option<Box<str>>,
        mime_type: Option<Box<str>>,
    },
    Url {
        url: Box<str>,
        mime_type: Option<Box<str>>,
    },
}

impl Source {
    fn from_checked(json: &str) -> Result<Option<Self>, ReadError> {
        let fields = Fields::of(json)?;
        let tag = fields::tag(&fields, "type");
        let Some(tag @ ("data" | "file" | "url")) = tag.as_deref() else {
            return Ok(None);
        };
        let value = fields.read("value", fields::token)?;
        let mime_type = || fields.read_if("mimeType", fields::text);
        Ok(Some(match tag {
            "data" => Self::Data {
                mime_type: fields.read("mimeType", fields::text)?,
            },
            "file" => Self::File {
                provider: fields.read_if("provider", fields::text)?,
                mime_type: mime_type()?,
            },
            _ => Self::Url {
                url: decode_token(value).into(),
                mime_type: mime_type()?,
            },
        }))
    }
}
