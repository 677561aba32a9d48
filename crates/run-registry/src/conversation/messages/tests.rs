use threadcast_agui::ids::{MessageId, ToolCallId};

use super::*;
use crate::histories::Random;

/// What the list is, without any haste.
#[derive(Default)]
struct Plain(Vec<Message>);

impl Plain {
    fn first(&self, id: &MessageId) -> Option<usize> {
        self.0.iter().position(|message| message.id == *id)
    }

    fn holder(&self, call: &ToolCallId) -> Option<usize> {
        let holds = |message: &Message| message.tool_calls().iter().any(|held| held.id == *call);
        self.0.iter().position(holds)
    }

    fn insert_result(&mut self, call: &ToolCallId, message: Message) {
        let at = self.holder(call).map_or(self.0.len(), |holder| {
            let is_tool = |message: &&Message| matches!(message.body, MessageBody::Tool { .. });
            holder + 1 + self.0[holder + 1..].iter().take_while(is_tool).count()
        });
        self.0.insert(at, message);
    }

    fn replace(&mut self, message: Message) {
        if let Some(at) = self.first(&message.id) {
            self.0[at] = message;
        }
    }
}

fn read(json: &str) -> Message {
    Message::read(json).unwrap().unwrap()
}

fn assistant(random: &mut Random, id: &str, calls: &[String]) -> Message {
    let calls: Vec<_> = (0..random.below(4))
        .map(|_| random.pick(calls))
        .map(|call| {
            format!(
                r#"{{"id":"{call}","type":"function","function":{{"name":"n","arguments":""}}}}"#
            )
        })
        .collect();
    let calls = calls.join(",");
    read(&format!(
        r#"{{"id":"{id}","role":"assistant","toolCalls":[{calls}]}}"#
    ))
}

fn result(id: &str, call: &str) -> Message {
    read(&format!(
        r#"{{"id":"{id}","role":"tool","toolCallId":"{call}","content":""}}"#
    ))
}

fn activity(id: &str) -> Message {
    read(&format!(
        r#"{{"id":"{id}","role":"activity","activityType":"t","content":{{}}}}"#
    ))
}

fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|at| format!("{prefix}{at}")).collect()
}

fn check(list: &Messages, plain: &Plain, ids: &[String], calls: &[String], what: &str) {
    let found: Vec<_> = list.iter().collect();
    assert!(found.iter().copied().eq(&plain.0), "{what}");
    let address = |message: Option<&Message>| message.map(std::ptr::from_ref);
    for id in ids {
        let id = MessageId::new(id.as_str()).unwrap();
        let expected = plain.first(&id).map(|at| found[at]);
        assert_eq!(address(list.get(&id)), address(expected), "{what}: `{id}`");
    }
    for call in calls {
        let call = ToolCallId::new(call.as_str()).unwrap();
        let expected = plain.holder(&call).map(|at| found[at]);
        let told = format!("{what}: `{call}`");
        let holder = list.holder(&call).map(|place| list.message(place));
        assert_eq!(address(holder), address(expected), "{told}");
        assert_eq!(
            list.call(&call).map(|found| &found.id),
            expected.map(|_| &call),
            "{told}"
        );
    }
}

/// Whatever comes into the middle or goes from there, and whether copies share the list or not.
#[test]
fn the_list_is_what_it_would_be_without_haste() {
    for seed in 0..150 {
        let mut random = Random::new(seed);
        let (ids, calls) = (names("m", 12), names("c", 5));
        let (mut list, mut plain) = (Messages::default(), Plain::default());
        let mut copy = list.clone();
        for step in 0..120 {
            let (id, call) = (random.pick(&ids).clone(), random.pick(&calls).clone());
            let call_id = ToolCallId::new(call.as_str()).unwrap();
            match random.below(8) {
                0 | 1 => {
                    let message = assistant(&mut random, &id, &calls);
                    plain.0.push(message.clone());
                    list.append(message);
                }
                2 => {
                    plain.0.push(result(&id, &call));
                    list.append(result(&id, &call));
                }
                3..=5 => {
                    plain.insert_result(&call_id, result(&id, &call));
                    list.insert_result(&call_id, result(&id, &call));
                }
                6 => {
                    plain.replace(activity(&id));
                    list.replace(activity(&id));
                }
                _ => copy = list.clone(),
            }
            check(
                &list,
                &plain,
                &ids,
                &calls,
                &format!("seed {seed}, step {step}"),
            );
        }
        assert!(copy.nodes.len() <= list.nodes.len());
    }
}

/// Results and what takes their place, over and over in one place: room is made when there is none.
#[test]
fn there_is_always_room_in_the_middle() {
    let mut list = Messages::default();
    let call = ToolCallId::new("c").unwrap();
    let mut random = Random::new(1);
    let holder = loop {
        let message = assistant(&mut random, "h", &["c".to_owned()]);
        if !message.tool_calls().is_empty() {
            break message;
        }
    };
    list.append(holder);
    list.append(activity("end"));
    for at in 0..400 {
        list.insert_result(&call, result(&format!("a{at}"), "c"));
        list.insert_result(&call, result(&format!("b{at}"), "c"));
        list.replace(activity(&format!("b{at}")));
        list.replace(activity(&format!("a{at}")));
    }
    let found: Vec<_> = list.iter().map(|message| message.id.as_str()).collect();
    let expected = (0..400)
        .rev()
        .flat_map(|at| [format!("a{at}"), format!("b{at}")]);
    let expected: Vec<_> = ["h".to_owned()]
        .into_iter()
        .chain(expected)
        .chain(["end".to_owned()])
        .collect();
    assert_eq!(found, expected);
    let orders = std::iter::successors(Some(0), |node| list.nodes[*node].next);
    assert!(
        orders
            .map(|node| list.nodes[node].order)
            .is_sorted_by(|one, next| one < next)
    );
}

/// A small event of a long thread touches few of its messages, in a copy as in the list itself.
#[test]
fn what_changes_the_middle_touches_little() {
    let mut list = Messages::default();
    for at in 0..5_000 {
        let json = format!(
            r#"{{"id":"m{at}","role":"assistant","toolCalls":[{{"id":"c{at}","type":"function","function":{{"name":"n","arguments":""}}}},{{"id":"shared","type":"function","function":{{"name":"n","arguments":""}}}}]}}"#
        );
        list.append(read(&json));
        list.append(result("r", &format!("c{at}")));
    }
    let call = ToolCallId::new("c2500").unwrap();
    let changes: [&dyn Fn(&mut Messages); 4] = [
        &|list| list.insert_result(&call, result("r", "c2500")),
        &|list| list.replace(activity("r")),
        &|list| list.replace(activity("m0")),
        &|list| list.replace(activity("m1")),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let before = list.clone();
        assert_eq!(
            list.nodes.pieces_apart(&before.nodes),
            0,
            "a copy shares all"
        );
        change(&mut list);
        let apart = list.nodes.pieces_apart(&before.nodes);
        assert!((1..=4).contains(&apart), "change {at}: {apart} pieces");
    }
}
