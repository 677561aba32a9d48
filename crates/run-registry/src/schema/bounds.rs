//! How much a schema can cost at most, before it is used.
//!
//! Counted is how many parts of a schema can look at one and the same place of a payload.
//! References multiply that: by branching at one place, or by branching at every level of a deep
//! payload. Only references inside the schema are followed; others, and bases that change their
//! meaning, make the schema unusable.
//!
//! Invariant: a schema that passes ends, however it refers to itself, and does so after at most
//! [`VISITS_MAX`] visits for each place of the payload and [`ALL_VISITS_MAX`] for all of them.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::nesting::depth;

/// Most references in a schema.
pub const REFS_MAX: usize = 200;

/// Most parts of a schema that may look at one place of a payload.
pub const VISITS_MAX: usize = 10_000;

/// Most visits of parts of a schema at all places of a payload together: a fraction of a second.
pub const ALL_VISITS_MAX: usize = 250_000;

/// Why a schema is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BoundsError {
    #[error(
        "the schema takes {visits} visits at each of {places} places, at most {ALL_VISITS_MAX} are made"
    )]
    AllVisits { visits: usize, places: usize },
    #[error("reference `{reference}` of the schema goes in a circle")]
    Circle { reference: String },
    #[error("the schema names a base of its own for a part of it")]
    InnerBase,
    #[error("reference `{reference}` leaves the schema or leads nowhere")]
    Leaves { reference: String },
    #[error("the schema nests more than {NESTING_MAX} parts for a payload this deep")]
    Nesting,
    #[error("the schema has {found} references, at most {REFS_MAX} are followed")]
    Refs { found: usize },
    #[error("the schema's references fan out to more than {VISITS_MAX} visits")]
    Visits,
}

/// Most parts of a schema that are inside one another on the way to some place: both this count and
/// the validator walk them recursively.
pub const NESTING_MAX: usize = 512;

/// Keywords whose schemas look at the same place.
const IN_PLACE: [&str; 7] = ["allOf", "anyOf", "else", "if", "not", "oneOf", "then"];

/// Keywords that hold named schemas for the same place.
const IN_PLACE_NAMED: [&str; 2] = ["dependencies", "dependentSchemas"];

/// Keywords whose schemas look at places inside, several of them at one.
const INSIDE: [&str; 10] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "items",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Keywords that hold what a place is compared with, one by one.
const LISTS: [&str; 2] = ["enum", "required"];

const REFERENCES: [&str; 3] = ["$dynamicRef", "$recursiveRef", "$ref"];

/// Checks what `schema` can cost on `payload`.
pub(super) fn check(schema: &Value, payload: &Value) -> Result<(), BoundsError> {
    let mut survey = Survey {
        root: schema,
        anchors: HashMap::new(),
        refs: 0,
    };
    survey.walk(schema, true)?;
    if survey.refs > REFS_MAX {
        return Err(BoundsError::Refs { found: survey.refs });
    }
    let mut count = Count {
        survey: &survey,
        known: HashMap::new(),
        nesting: 0,
    };
    let visits = count.visits(schema, depth(payload))?;
    let places = places(payload);
    if visits.saturating_mul(places) > ALL_VISITS_MAX {
        return Err(BoundsError::AllVisits { visits, places });
    }
    Ok(())
}

/// Values and names, all of which a schema can look at.
fn places(value: &Value) -> usize {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(places).sum::<usize>(),
        Value::Object(members) => 1 + members.len() + members.values().map(places).sum::<usize>(),
        _ => 1,
    }
}

/// Where references can lead.
struct Survey<'a> {
    root: &'a Value,
    anchors: HashMap<&'a str, Vec<&'a Value>>,
    refs: usize,
}

impl<'a> Survey<'a> {
    fn walk(&mut self, value: &'a Value, is_root: bool) -> Result<(), BoundsError> {
        match value {
            Value::Array(elements) => elements
                .iter()
                .try_for_each(|element| self.walk(element, false)),
            Value::Object(members) => {
                let is_text = |name: &str| members.get(name).is_some_and(Value::is_string);
                if !is_root && (is_text("$id") || is_text("id") && members.contains_key("$schema"))
                {
                    return Err(BoundsError::InnerBase);
                }
                for name in ["$anchor", "$dynamicAnchor"] {
                    if let Some(anchor) = members.get(name).and_then(Value::as_str) {
                        self.anchors.entry(anchor).or_default().push(value);
                    }
                }
                self.refs += REFERENCES.iter().filter(|name| is_text(name)).count();
                members
                    .values()
                    .try_for_each(|member| self.walk(member, false))
            }
            _ => Ok(()),
        }
    }

    /// All that a reference may lead to; a dynamic one has several ends.
    fn targets(&self, reference: &str) -> Result<Vec<&'a Value>, BoundsError> {
        let leaves = || BoundsError::Leaves {
            reference: reference.chars().take(128).collect(),
        };
        let fragment = reference.strip_prefix('#').ok_or_else(leaves)?;
        // A fragment with escapes of its own is not worth decoding here.
        if fragment.contains('%') {
            return Err(leaves());
        }
        if fragment.is_empty() || fragment.starts_with('/') {
            return self
                .root
                .pointer(fragment)
                .map(|target| vec![target])
                .ok_or_else(leaves);
        }
        self.anchors.get(fragment).cloned().ok_or_else(leaves)
    }
}

/// Counts visits; what was counted once is known.
struct Count<'a> {
    survey: &'a Survey<'a>,
    /// By schema and levels left; `None` while it is being counted.
    known: HashMap<(*const Value, usize), Option<usize>>,
    /// Parts that are being counted.
    nesting: usize,
}

impl<'a> Count<'a> {
    /// The most visits at one place that `schema` leads to there or further inside, `levels` down
    /// at most.
    fn visits(&mut self, schema: &'a Value, levels: usize) -> Result<usize, BoundsError> {
        let Value::Object(members) = schema else {
            return Ok(1);
        };
        let key = (std::ptr::from_ref(schema), levels);
        match self.known.get(&key) {
            Some(Some(visits)) => return Ok(*visits),
            Some(None) => {
                let reference = REFERENCES
                    .iter()
                    .find_map(|name| members.get(*name).and_then(Value::as_str));
                return Err(BoundsError::Circle {
                    reference: reference.unwrap_or("#").chars().take(128).collect(),
                });
            }
            None => {}
        }
        if self.nesting == NESTING_MAX {
            return Err(BoundsError::Nesting);
        }
        self.nesting += 1;
        self.known.insert(key, None);
        let listed: usize = LISTS
            .iter()
            .filter_map(|name| Some(members.get(*name)?.as_array()?.len()))
            .sum();
        let visits = 1 + listed + self.in_place(members, levels)? + self.inside(members, levels)?;
        if visits > VISITS_MAX {
            return Err(BoundsError::Visits);
        }
        self.known.insert(key, Some(visits));
        self.nesting -= 1;
        Ok(visits)
    }

    fn in_place(
        &mut self,
        members: &'a Map<String, Value>,
        levels: usize,
    ) -> Result<usize, BoundsError> {
        let mut visits = 0;
        for name in REFERENCES {
            if let Some(reference) = members.get(name).and_then(Value::as_str) {
                for target in self.survey.targets(reference)? {
                    visits += self.visits(target, levels)?;
                }
            }
        }
        for name in IN_PLACE {
            visits += self.sum(members.get(name), levels)?;
        }
        for name in IN_PLACE_NAMED {
            visits += self.sum_named(members.get(name), levels)?;
        }
        Ok(visits)
    }

    fn inside(
        &mut self,
        members: &'a Map<String, Value>,
        levels: usize,
    ) -> Result<usize, BoundsError> {
        let Some(levels) = levels.checked_sub(1) else {
            return Ok(0);
        };
        let mut visits = 0;
        for name in INSIDE {
            visits += match name {
                "patternProperties" => self.sum_named(members.get(name), levels)?,
                _ => self.sum(members.get(name), levels)?,
            };
        }
        // Each of them looks at another place.
        let mut most = 0;
        for property in members
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::values)
        {
            most = most.max(self.visits(property, levels)?);
        }
        Ok(visits + most)
    }

    /// Over one schema or a list of them.
    fn sum(&mut self, schemas: Option<&'a Value>, levels: usize) -> Result<usize, BoundsError> {
        match schemas {
            None => Ok(0),
            Some(Value::Array(schemas)) => schemas
                .iter()
                .try_fold(0, |sum, schema| Ok(sum + self.visits(schema, levels)?)),
            Some(schema) => self.visits(schema, levels),
        }
    }

    fn sum_named(
        &mut self,
        schemas: Option<&'a Value>,
        levels: usize,
    ) -> Result<usize, BoundsError> {
        let named = schemas
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Map::values);
        named
            .into_iter()
            .try_fold(0, |sum, schema| Ok(sum + self.visits(schema, levels)?))
    }
}
