//! The retired content part `binary`, and the media part it becomes.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::fields::{self, Fields};
use crate::scan;
use crate::text::decode_token;
use crate::write::ObjectWriter;

/// A part of the retired kind; one that has only an id has no present form.
pub(super) struct Binary<'a> {
    kind: &'static str,
    source: &'static str,
    /// JSON text like the two below, not decoded: the bytes may be many.
    value: &'a str,
    mime_type: &'a str,
    filename: Option<&'a str>,
}

impl<'a> Binary<'a> {
    pub(super) fn read(fields: &Fields<'a>) -> Option<Self> {
        // As the reference client judges it; a wrong value is then refused where the media part is
        // read.
        let is_filled = |value: &&str| !matches!(*value, "\"\"" | "null" | "false" | "0");
        let filled = |name| fields.value(name).filter(is_filled);
        let mime_type = fields
            .value("mimeType")
            .filter(|value| value.starts_with('"'))?;
        let (source, value) = match (filled("data"), filled("url")) {
            (Some(data), _) => ("data", data),
            (None, Some(url)) => ("url", url),
            (None, None) => return None,
        };
        let kind = match decode_token(mime_type).split_once('/') {
            Some(("audio", _)) => "audio",
            Some(("image", _)) => "image",
            Some(("video", _)) => "video",
            _ => "document",
        };
        Some(Self {
            kind,
            source,
            value,
            mime_type,
            filename: filled("filename"),
        })
    }

    pub(super) fn to_media_part(&self) -> String {
        let mut out = String::new();
        let mut part = ObjectWriter::begin(&mut out);
        part.string("type", self.kind);
        let mut source = ObjectWriter::begin(part.name("source"));
        source.string("type", self.source);
        source.raw("value", self.value);
        source.raw("mimeType", self.mime_type);
        source.end();
        if let Some(filename) = self.filename {
            let mut metadata = ObjectWriter::begin(part.name("metadata"));
            metadata.raw("filename", filename);
            metadata.end();
        }
        part.end();
        out
    }
}

/// The media parts of one content, to find those that an old peer sent in both forms.
pub(super) struct Twins<'a> {
    parts: HashSet<Media<'a>>,
    named: HashSet<(Media<'a>, Cow<'a, str>)>,
}

/// Kind, source type, value and MIME type of a part.
type Media<'a> = [Cow<'a, str>; 4];

impl<'a> Twins<'a> {
    pub(super) fn among(parts: &'a str) -> Self {
        let mut twins = Self {
            parts: HashSet::new(),
            named: HashSet::new(),
        };
        for (media, filename) in scan::elements(parts).filter_map(|part| media(part.value)) {
            twins
                .named
                .extend(filename.map(|filename| (media.clone(), filename)));
            twins.parts.insert(media);
        }
        twins
    }

    /// Whether the same bytes stand there in the present form, the file name included.
    pub(super) fn have(&self, binary: &Binary<'a>) -> bool {
        let media = [
            binary.kind.into(),
            binary.source.into(),
            decode_token(binary.value),
            decode_token(binary.mime_type),
        ];
        match binary.filename {
            Some(filename) => self.named.contains(&(media, decode_token(filename))),
            None => self.parts.contains(&media),
        }
    }
}

/// What a media part holds, and its file name if its metadata has one.
fn media(part: &str) -> Option<(Media<'_>, Option<Cow<'_, str>>)> {
    let part = Fields::of(part).ok()?;
    let source = Fields::of(part.value("source")?).ok()?;
    let media = [
        fields::tag(&part, "type")?,
        fields::tag(&source, "type")?,
        fields::tag(&source, "value")?,
        fields::tag(&source, "mimeType")?,
    ];
    let metadata = part
        .value("metadata")
        .and_then(|metadata| Fields::of(metadata).ok());
    Some((
        media,
        metadata.and_then(|metadata| fields::tag(&metadata, "filename")),
    ))
}
