use super::*;

fn patch(json: &str) -> Patch {
    Patch::read(json).unwrap()
}

/// Patches of a message that nobody else has work on it; on one that is shared the first makes a
/// copy, for all that follow.
#[test]
fn patches_work_in_place() {
    let json = r#"{"id":"p","role":"activity","activityType":"t","content":{"a":[1,2,3]}}"#;
    let mut held = Held::from(Message::read(json).unwrap().unwrap());
    let patches = [
        "[]",
        r#"[{"op":"add","path":"/a/-","value":4}]"#,
        r#"[{"op":"remove","path":"/none"}]"#,
        r#"[{"op":"replace","path":"","value":7}]"#,
        r#"[{"op":"replace","path":"/a/0","value":"one"}]"#,
    ];
    let change = |held: &mut Held| {
        for json in patches {
            let _ = held.patch(&patch(json));
            assert_eq!(held.bytes(), message_bytes(held.message()), "{json}");
        }
    };
    let own = Arc::as_ptr(&held.message);
    change(&mut held);
    assert_eq!(Arc::as_ptr(&held.message), own);
    let other = held.clone();
    change(&mut held);
    let copy = Arc::as_ptr(&held.message);
    assert_ne!(copy, own);
    change(&mut held);
    assert_eq!(Arc::as_ptr(&held.message), copy, "one copy serves all");
    assert_ne!(other.message().to_json(), held.message().to_json());
}
