use super::*;

fn of(json: &str) -> Fingerprint {
    Fingerprint::of_json(&RawJson::parse(json).unwrap())
}

#[track_caller]
fn equal(all: &[&str]) {
    for json in all {
        assert_eq!(of(json), of(all[0]), "{json} says the same as {}", all[0]);
    }
}

#[track_caller]
fn distinct(all: &[&str]) {
    for (at, json) in all.iter().enumerate() {
        for other in &all[..at] {
            assert_ne!(
                of(json),
                of(other),
                "{json} says something else than {other}"
            );
        }
    }
}

#[test]
fn order_and_white_space_say_nothing() {
    equal(&[
        r#"{"a":1,"b":[2,{"c":3,"d":4}]}"#,
        r#" { "b" : [ 2 , { "d":4, "c" : 3 } ] , "a":1 }"#,
    ]);
}

#[test]
fn spellings_of_one_number_are_equal() {
    equal(&["1", "1.0", "1e0", "10e-1", "0.1e1", "1E+0", "1.000"]);
    equal(&["0", "-0", "0.0", "0e5", "-0.00E-3"]);
    equal(&["12300", "1.23e4", "123e2", "123000e-1"]);
    equal(&["-0.05", "-5e-2", "-0.50e-1"]);
}

#[test]
fn long_numbers_do_not_meet_in_a_double() {
    distinct(&["9007199254740993", "9007199254740992", "9007199254740994"]);
    distinct(&["1e400", "1e401", "-1e400"]);
    distinct(&["0.1", "0.10000000000000000001"]);
    distinct(&["1e99999999999999999999999999999999999999999", "1e9"]);
}

#[test]
fn strings_compare_after_unescaping_and_unnormalised() {
    equal(&[r#""aé\n""#, r#""\u0061\u00e9\u000a""#]);
    equal(&[r#""😀""#, r#""\ud83d\ude00""#, r#""\uD83D\uDE00""#]);
    equal(&[r#""\"\\\/""#, r#""\u0022\u005c\u002f""#]);
    distinct(&["\"\u{e9}\"", "\"e\u{301}\""]);
    distinct(&[r#""\ud800""#, r#""\ud801""#, r#""\ufffd""#]);
}

#[test]
fn kinds_and_shapes_differ() {
    distinct(&[
        "1",
        r#""1""#,
        "[1]",
        "[[1]]",
        "null",
        "true",
        "false",
        "{}",
        "[]",
        r#""""#,
        r#"{"1":1}"#,
    ]);
    distinct(&["[1,23]", "[12,3]", "[1,2,3]", "[123]"]);
    distinct(&[
        r#"{"a":"b"}"#,
        r#"{"a":{"b":null}}"#,
        r#"["a","b"]"#,
        r#"["a\",\"b"]"#,
    ]);
}

#[test]
fn the_protocol_version_says_nothing_the_agent_does() {
    let agent = |name: &str| AgentName::new(name).unwrap();
    let input = |json: &str| RawJson::parse(json).unwrap();
    let plain = Fingerprint::of_run(
        &agent("a"),
        &input(r#"{"runId":"1","x":{"protocolVersion":"2"}}"#),
    );
    let versioned = r#"{"protocolVersion":"1.0","runId":"1","x":{"protocolVersion":"2"}}"#;
    assert_eq!(plain, Fingerprint::of_run(&agent("a"), &input(versioned)));
    assert_ne!(plain, Fingerprint::of_run(&agent("b"), &input(versioned)));
    assert_ne!(
        plain,
        Fingerprint::of_run(&agent("a"), &input(r#"{"runId":"1","x":{}}"#))
    );
}

#[test]
fn keys_do_not_depend_on_the_order_of_interrupts() {
    let (thread, run) = (ThreadId::new("t").unwrap(), RunId::new("r").unwrap());
    let ids = ["b", "a", "c"].map(|id| InterruptId::new(id).unwrap());
    let sorted = Fingerprint::of_resume_key(&thread, &run, [&ids[1], &ids[0], &ids[2]]);
    assert_eq!(Fingerprint::of_resume_key(&thread, &run, &ids), sorted);
    assert_ne!(Fingerprint::of_resume_key(&thread, &run, &ids[..2]), sorted);
    assert_ne!(Fingerprint::of_run_key(&thread, &run), sorted);
}

#[test]
fn text_form_reads_back() {
    let fingerprint = of("1");
    let json = serde_json::to_string(&fingerprint).unwrap();
    assert_eq!(json.len(), 34);
    assert_eq!(
        serde_json::from_str::<Fingerprint>(&json).unwrap(),
        fingerprint
    );
    assert!(serde_json::from_str::<Fingerprint>("\"00\"").is_err());
}

proptest::proptest! {
    #[test]
    fn permuting_members_changes_nothing(mut members in proptest::collection::hash_map("[a-z\\\\\"é😀]{0,4}", -1e6..1e6_f64, 0..8)) {
        let object = |members: &[(String, f64)]| {
            let members = members.iter().map(|(name, value)| format!("{}:{value}", serde_json::to_string(name).unwrap()));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        };
        let mut list: Vec<_> = members.drain().collect();
        let one = of(&object(&list));
        list.reverse();
        proptest::prop_assert_eq!(one, of(&object(&list)));
    }
}
