//! The event fixtures, one a type: a frame carries their bytes as they are.

use threadcast_agui::event::Event;
use threadcast_agui::ids::ThreadId;
use threadcast_agui::json::RawJson;
use threadcast_thread_log::entry::Millis;
use threadcast_thread_log::position::Seq;
use threadcast_wire::hub_frame::{HubFrame, ThreadTag, write_event};

use crate::fixtures;

/// Every type of AG-UI 1.0.
const EVENT_TYPES: usize = 31;

#[test]
fn every_event_type_passes_through_a_frame_verbatim() {
    let thread = ThreadId::new("t").unwrap();
    let tag = ThreadTag::new(&thread);
    let folder = fixtures::folder("events");
    let names = fixtures::names(&folder);
    assert_eq!(names.len(), EVENT_TYPES);
    for name in names {
        let text = std::fs::read_to_string(folder.join(&name)).unwrap();
        let event = Event::read(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let json = RawJson::parse(&text).unwrap();
        let value = json.to_value().unwrap();
        assert_eq!(format!("{}.json", value["type"].as_str().unwrap()), name);
        assert_eq!(event.json, json, "{name}");

        let mut out = Vec::new();
        write_event(&mut out, &tag, Seq::ZERO.next(), Millis(5), &event.json);
        let frame = std::str::from_utf8(&out).unwrap();
        assert_eq!(
            frame,
            format!(r#"{{"op":"event","threadId":"t","seq":1,"at":5,"event":{json}}}"#)
        );
        let expected = HubFrame::Event {
            thread: thread.clone(),
            seq: Seq::ZERO.next(),
            at: Millis(5),
            event: json,
        };
        assert_eq!(HubFrame::read(frame).unwrap(), expected, "{name}");
    }
}
