//! Changes inside one event: a member renamed, taken away, made null or something else.

use serde_json::{Value, json};

use crate::histories::random::Random;

/// Gives one id of the event another value of its kind's pool, if it has an id.
pub(super) fn rename_one_id(random: &mut Random, event: &mut Value) {
    let ids = [
        "messageId",
        "toolCallId",
        "stepName",
        "runId",
        "threadId",
        "subagentRunId",
        "parentMessageId",
        "parentSubagentRunId",
        "entityId",
    ];
    let Some(event) = event.as_object_mut() else {
        return;
    };
    let present: Vec<_> = ids
        .into_iter()
        .filter(|id| event.contains_key(*id))
        .collect();
    if !present.is_empty() {
        let id = *random.pick(&present);
        let value = *random.pick(&[
            "m1", "m2", "x", "c1", "c2", "g1", "s1", "s2", "r1", "plan", "nobody",
        ]);
        event.insert(id.to_owned(), json!(value));
    }
}

/// Changes one value of the event, however deep.
pub(super) fn change_somewhere(random: &mut Random, event: &mut Value) {
    let mut paths = Vec::new();
    collect("", event, &mut paths);
    if paths.is_empty() {
        return;
    }
    let path = random.pick(&paths).clone();
    let (holder, name) = path.rsplit_once('/').expect("a path has a slash");
    let name = name.replace("~1", "/").replace("~0", "~");
    let Some(holder) = event.pointer_mut(holder) else {
        return;
    };
    match holder {
        Value::Object(members) => match random.below(5) {
            0 => drop(members.shift_remove(&name)),
            1 => {
                if let Some(value) = members.shift_remove(&name) {
                    members.insert(format!("{name}X"), value);
                }
            }
            2 => drop(members.insert(name, Value::Null)),
            _ => {
                if let Some(value) = members.get_mut(&name) {
                    *value = other(random, &name, value);
                }
            }
        },
        Value::Array(elements) => {
            let at: usize = name.parse().expect("an index");
            match random.below(4) {
                0 => drop(elements.remove(at)),
                1 => elements.insert(at, Value::Null),
                2 => elements.push(elements[at].clone()),
                _ => elements[at] = other(random, "", &elements[at]),
            }
        }
        _ => {}
    }
}

fn collect(path: &str, value: &Value, paths: &mut Vec<String>) {
    let mut add = |name: &str, inner: &Value| {
        let path = format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
        paths.push(path.clone());
        collect(&path, inner, paths);
    };
    match value {
        Value::Array(elements) => {
            for (at, inner) in elements.iter().enumerate() {
                add(&at.to_string(), inner);
            }
        }
        Value::Object(members) => {
            for (name, inner) in members {
                add(name, inner);
            }
        }
        _ => {}
    }
}

/// A value of another type, or another one of the same.
fn other(random: &mut Random, name: &str, value: &Value) -> Value {
    match value {
        Value::Null => json!(0),
        Value::Bool(is) => random.pick(&[json!(!is), json!("true"), json!(0)]).clone(),
        Value::Number(_) => random
            .pick(&[
                json!("5"),
                json!(1.5),
                json!(-1),
                json!(9_007_199_254_740_992_i64),
                json!(0),
                json!([1]),
            ])
            .clone(),
        // The ids of threads and runs are the hub's own keys, for which it asks more.
        Value::String(_) if name.ends_with("unId") || name == "threadId" => {
            random.pick(&[json!(7), json!("other"), json!([])]).clone()
        }
        Value::String(text) => random
            .pick(&[
                json!(7),
                json!(true),
                json!([text]),
                json!({text: 1}),
                json!(""),
                json!("other"),
                json!("user"),
            ])
            .clone(),
        Value::Array(elements) => random
            .pick(&[
                json!({}),
                json!("text"),
                json!([elements]),
                json!([]),
                json!([null]),
                json!(0),
            ])
            .clone(),
        Value::Object(_) => random
            .pick(&[
                json!([]),
                json!([value]),
                json!("text"),
                json!({}),
                json!(1),
            ])
            .clone(),
    }
}
