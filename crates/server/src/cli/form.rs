//! Questions for a person, made from the `responseSchema` of an interrupt, and the payload made
//! from the answers.
//!
//! Covers what approvals ask: booleans, numbers, text, choices, and one level of an object's
//! members; anything deeper is asked for as JSON. It does not judge a payload: the hub does, and
//! tells every violation.

use serde_json::{Map, Value};

/// What to ask for one interrupt.
#[derive(Debug, PartialEq)]
pub(crate) struct Form {
    shape: Shape,
    /// In the order the schema names them.
    fields: Vec<Field>,
    /// Members that can have one value only, with it.
    constants: Map<String, Value>,
}

#[derive(Debug, PartialEq)]
enum Shape {
    /// One field, whose value is the payload.
    Value,
    /// The payload is an object with a member for each field.
    Object,
}

/// One question.
#[derive(Debug, PartialEq)]
pub(crate) struct Field {
    /// Name of the member; empty when the field is the whole payload.
    pub(crate) name: String,
    title: Option<String>,
    kind: Kind,
    required: bool,
    default: Option<Value>,
}

#[derive(Debug, PartialEq)]
enum Kind {
    Boolean,
    Choice(Vec<Value>),
    Integer,
    Json,
    Number,
    Text,
}

/// Why a line answers no question.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FieldError {
    #[error("type y or n")]
    NoBoolean,
    #[error("type one of {}", .choices.join(", "))]
    NoChoice { choices: Vec<String> },
    #[error("type a whole number")]
    NoInteger,
    #[error("type JSON: {reason}")]
    NoJson { reason: String },
    #[error("type a number")]
    NoNumber,
    #[error("a value is needed")]
    Required,
}

impl Form {
    /// The form for a schema; without one, any JSON or nothing is asked for.
    pub(crate) fn of(schema: Option<&Value>) -> Self {
        let Some(root) = schema else {
            return Self::of_value(Field {
                name: String::new(),
                title: Some("payload as JSON".to_owned()),
                kind: Kind::Json,
                required: false,
                default: None,
            });
        };
        let schema = resolve(root, root);
        match schema.get("properties").and_then(Value::as_object) {
            Some(properties) if Kind::of(schema, root) == Kind::Json => {
                Self::of_object(schema, properties, root)
            }
            _ => Self::of_value(Field::of(String::new(), schema, true, root)),
        }
    }

    fn of_value(field: Field) -> Self {
        Self {
            shape: Shape::Value,
            fields: vec![field],
            constants: Map::new(),
        }
    }

    fn of_object(schema: &Value, properties: &Map<String, Value>, root: &Value) -> Self {
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut form = Self {
            shape: Shape::Object,
            fields: Vec::new(),
            constants: Map::new(),
        };
        for (name, property) in properties {
            let is_required = required.contains(&name.as_str());
            match resolve(property, root).get("const") {
                Some(value) if is_required => {
                    form.constants.insert(name.clone(), value.clone());
                }
                _ => form
                    .fields
                    .push(Field::of(name.clone(), property, is_required, root)),
            }
        }
        form
    }

    pub(crate) fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The payload of `answers`, one for each field; `None` when nothing was answered.
    pub(crate) fn payload(&self, answers: Vec<Option<Value>>) -> Option<Value> {
        debug_assert_eq!(answers.len(), self.fields.len());
        match self.shape {
            Shape::Value => answers.into_iter().next().flatten(),
            Shape::Object => {
                let mut payload = self.constants.clone();
                let answered = self.fields.iter().zip(answers);
                payload.extend(
                    answered.filter_map(|(field, value)| Some((field.name.clone(), value?))),
                );
                Some(Value::Object(payload))
            }
        }
    }

    /// The payload that says no, where the schema shows how: `false`, or `approved` set to `false`.
    pub(crate) fn rejection(&self) -> Option<Value> {
        let approved = match self.shape {
            Shape::Value => self.fields.first()?,
            Shape::Object => self.fields.iter().find(|field| field.name == "approved")?,
        };
        if approved.kind != Kind::Boolean {
            return None;
        }
        let answers = self.fields.iter().map(|field| {
            if std::ptr::eq(field, approved) {
                Some(Value::Bool(false))
            } else {
                field.default.clone()
            }
        });
        self.payload(answers.collect())
    }
}

impl Field {
    fn of(name: String, schema: &Value, required: bool, root: &Value) -> Self {
        let bare = resolve(schema, root);
        // What stands beside a reference speaks of this member, what stands behind it of its kind.
        let member = |key: &str| schema.get(key).or_else(|| bare.get(key));
        let text = |key: &str| member(key).and_then(Value::as_str).map(str::to_owned);
        Self {
            name,
            title: text("description").or_else(|| text("title")),
            kind: Kind::of(bare, root),
            required,
            default: member("default").filter(|value| !value.is_null()).cloned(),
        }
    }

    /// The question as one line: what it is for, what may be typed, what an empty line means.
    pub(crate) fn question(&self) -> String {
        let mut question = self.name.clone();
        if let Some(title) = &self.title {
            let between = if question.is_empty() { "" } else { ": " };
            question = format!("{question}{between}{title}");
        }
        let expected = match &self.kind {
            Kind::Boolean => "y/n".to_owned(),
            Kind::Choice(choices) => choices.iter().map(shown).collect::<Vec<_>>().join(" | "),
            Kind::Integer => "whole number".to_owned(),
            Kind::Json => "JSON".to_owned(),
            Kind::Number => "number".to_owned(),
            Kind::Text => "text".to_owned(),
        };
        let empty = match (&self.default, self.required) {
            (Some(default), _) => format!(", empty for {}", shown(default)),
            (None, true) => String::new(),
            (None, false) => ", empty to skip".to_owned(),
        };
        let between = if question.is_empty() { "" } else { " " };
        format!("{question}{between}[{expected}{empty}]: ")
    }

    /// The value of a typed line; `None` leaves the field out.
    ///
    /// # Errors
    /// The line is no value of the field's kind, or is empty where one is needed.
    pub(crate) fn read(&self, line: &str) -> Result<Option<Value>, FieldError> {
        let line = line.trim();
        if line.is_empty() {
            return match (&self.default, self.required) {
                (Some(default), _) => Ok(Some(default.clone())),
                (None, true) => Err(FieldError::Required),
                (None, false) => Ok(None),
            };
        }
        self.kind.read(line).map(Some)
    }
}

impl Kind {
    fn of(schema: &Value, root: &Value) -> Self {
        if let Some(choices) = choices(schema, root) {
            return Self::Choice(choices);
        }
        let named = schema.get("type");
        // Of a list of types the first that is not null counts; null is what skipping stands for.
        let listed = named
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .find(|&kind| kind != "null");
        match named
            .filter(|kind| kind.is_string())
            .or(listed)
            .and_then(Value::as_str)
        {
            Some("boolean") => Self::Boolean,
            Some("integer") => Self::Integer,
            Some("number") => Self::Number,
            Some("string") => Self::Text,
            _ => Self::Json,
        }
    }

    fn read(&self, line: &str) -> Result<Value, FieldError> {
        match self {
            Self::Boolean => match line.to_ascii_lowercase().as_str() {
                "y" | "yes" | "true" => Ok(Value::Bool(true)),
                "n" | "no" | "false" => Ok(Value::Bool(false)),
                _ => Err(FieldError::NoBoolean),
            },
            Self::Choice(choices) => choices
                .iter()
                .find(|choice| shown(choice) == line)
                .cloned()
                .ok_or_else(|| FieldError::NoChoice {
                    choices: choices.iter().map(shown).collect(),
                }),
            Self::Integer => number(line)
                .filter(|value| {
                    value.is_i64()
                        || value.is_u64()
                        || value.as_f64().is_some_and(|n| n.fract() == 0.0)
                })
                .ok_or(FieldError::NoInteger),
            Self::Json => serde_json::from_str(line).map_err(|error| FieldError::NoJson {
                reason: error.to_string(),
            }),
            Self::Number => number(line).ok_or(FieldError::NoNumber),
            // Quotes are the way to type a text that is empty or keeps its spaces.
            Self::Text if line.starts_with('"') => Ok(serde_json::from_str::<String>(line)
                .map_or_else(|_| Value::from(line), Value::from)),
            Self::Text => Ok(Value::from(line)),
        }
    }
}

fn number(line: &str) -> Option<Value> {
    serde_json::from_str::<Value>(line)
        .ok()
        .filter(Value::is_number)
}

/// A value as it is typed: text without quotes, all else as JSON.
fn shown(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// The values of `enum`, or of alternatives that are all constants.
fn choices(schema: &Value, root: &Value) -> Option<Vec<Value>> {
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return Some(
            values
                .iter()
                .filter(|value| !value.is_null())
                .cloned()
                .collect(),
        );
    }
    let alternatives = alternatives(schema)?;
    alternatives
        .iter()
        .map(|one| resolve(one, root).get("const").cloned())
        .collect()
}

fn alternatives(schema: &Value) -> Option<&Vec<Value>> {
    schema
        .get("anyOf")
        .or_else(|| schema.get("oneOf"))?
        .as_array()
}

/// How many references and optional wrappers are looked behind; a schema may refer to itself.
const RESOLVE_STEPS_MAX: usize = 16;

/// The schema behind local references and behind "this or null".
fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..RESOLVE_STEPS_MAX {
        let behind = match schema.get("$ref").and_then(Value::as_str) {
            Some(reference) => reference
                .strip_prefix('#')
                .and_then(|pointer| root.pointer(pointer)),
            None => only_alternative(schema),
        };
        match behind {
            Some(behind) => schema = behind,
            None => break,
        }
    }
    schema
}

fn only_alternative(schema: &Value) -> Option<&Value> {
    let is_null = |one: &&Value| one.get("type").is_some_and(|kind| kind == "null");
    let mut rest = alternatives(schema)?.iter().filter(|one| !is_null(one));
    let only = rest.next()?;
    rest.next().is_none().then_some(only)
}

#[cfg(test)]
mod tests;
