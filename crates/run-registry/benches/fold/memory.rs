//! What a fold holds: each history is folded event by event in a process of its own, which tells by
//! how much its memory grew.

use std::fs;
use std::process::Command;

use threadcast_agui::event::Event;
use threadcast_run_registry::conversation::Conversation;

use crate::histories;

/// Makes this program the process that is measured; its arguments follow.
pub(crate) const CHILD: &str = "memory-of";

const DELTAS: [usize; 3] = [10_000, 100_000, 1_000_000];
const SHAPES: [&str; 2] = ["one message", "messages of eight deltas"];

/// Prints a line a history; nothing where there is no `/proc`.
pub(crate) fn report() {
    if fs::metadata("/proc/self/smaps_rollup").is_err() {
        return;
    }
    for shape in SHAPES {
        for deltas in DELTAS {
            let program = std::env::current_exe().unwrap();
            let child = Command::new(program)
                .args([CHILD, shape, &deltas.to_string()])
                .output()
                .unwrap();
            assert!(child.status.success(), "{child:?}");
            print!("{}", String::from_utf8(child.stdout).unwrap());
        }
    }
}

/// Folds one history and prints what it holds.
pub(crate) fn tell(arguments: &[String]) {
    let [shape, deltas] = arguments else {
        panic!("expected a shape and a number, found {arguments:?}");
    };
    let deltas: usize = deltas.parse().unwrap();
    let mut conversation = Conversation::new();
    conversation.apply(&Event::read(&histories::started()).unwrap());
    let before = resident_bytes();
    if *shape == SHAPES[0] {
        fold(&mut conversation, &histories::start("m"));
        for _ in 0..deltas {
            fold(&mut conversation, &histories::delta("m"));
        }
    } else {
        for n in 0..deltas / 8 {
            let message = format!("message-{n}");
            fold(&mut conversation, &histories::start(&message));
            for _ in 0..8 {
                fold(&mut conversation, &histories::delta(&message));
            }
            fold(&mut conversation, &histories::end(&message));
        }
    }
    let grown = resident_bytes().saturating_sub(before);
    let messages = conversation.messages().count();
    let text: usize = conversation
        .messages()
        .filter_map(|message| message.text())
        .map(|text| text.len())
        .sum();
    println!(
        "memory, {deltas} deltas, {shape} ({messages}): {grown} bytes, {text} of them text, {:.1} bytes \
         a delta",
        grown as f64 / deltas as f64
    );
}

/// Read and folded at once, so that nothing but the fold stays.
fn fold(conversation: &mut Conversation, text: &str) {
    conversation.apply(&Event::read(text).unwrap());
}

/// Proportional set size: user-space memory alone.
fn resident_bytes() -> usize {
    let rollup = fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let line = rollup
        .lines()
        .find(|line| line.starts_with("Pss:"))
        .unwrap();
    let kib: usize = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib * 1024
}
