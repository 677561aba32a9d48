//! Which versions an entry moves, by what it is (docs/protocol.md §15.5).

use threadcast_agui::event::EventBody;
use threadcast_thread_log::entry::Class;

use crate::fact::Fact;

pub(crate) fn of_event(body: &EventBody) -> Class {
    match body {
        EventBody::RunStarted { .. }
        | EventBody::RunFinished { .. }
        | EventBody::RunError { .. } => Class::CONTROL,
        EventBody::StateDelta { .. } | EventBody::StateSnapshot { .. } => Class::STATE,
        _ => Class::NONE,
    }
}

pub(crate) fn of_fact(fact: &Fact) -> Class {
    match fact {
        Fact::InterruptReopened(_)
        | Fact::InterruptResolved(_)
        | Fact::RunAccepted { .. }
        | Fact::RunCancelRequested { .. }
        | Fact::ThreadForked(_) => Class::CONTROL,
        Fact::StatePatched(_) => Class::STATE,
        Fact::ActivityDiverged(_)
        | Fact::RunDispatched(_)
        | Fact::RunTrailing(_)
        | Fact::StateDiverged(_)
        | Fact::StreamRepaired(_) => Class::NONE,
    }
}
