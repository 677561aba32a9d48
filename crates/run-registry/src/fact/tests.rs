use threadcast_agui::ids::{MessageId, SubagentRunId};

use super::*;

fn run(id: &str) -> RunId {
    RunId::new(id).unwrap()
}

fn interrupt(id: &str) -> InterruptId {
    InterruptId::new(id).unwrap()
}

fn json(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

fn ann() -> Principal {
    Principal {
        id: "ann".into(),
        name: Some("Ann \"A\"".into()),
    }
}

fn accepted(resume: Option<AcceptedResume>, content: SubmittedContent) -> Fact {
    Fact::RunAccepted {
        public: RunAccepted {
            by: ann(),
            run_id: run("r"),
            agent: AgentName::new("demo").unwrap(),
            messages: json(r#"[{"id":"u","role":"user","content":"\ud83d"}]"#),
            resume,
        },
        submission: Submission {
            attempt: AttemptId("x".into()),
            fingerprint: Fingerprint::of_json(&json("1")),
            content,
        },
    }
}

fn of_interrupts() -> Vec<Fact> {
    let reopened = InterruptReopened {
        by: ann(),
        of: run("r0"),
        interrupt_ids: vec![interrupt(""), interrupt("i\n")],
        run_id: run("r"),
    };
    let resolved = InterruptResolved {
        by: ann(),
        of: run("r0"),
        interrupt_id: interrupt("i"),
        status: ResumeStatus::Resolved,
        payload: Some(json("12345678901234567890123")),
        run_id: run("r"),
        unchecked: Some("too large".into()),
    };
    vec![
        Fact::InterruptReopened(reopened),
        Fact::InterruptResolved(resolved),
    ]
}

fn failed(stricter: bool) -> FailedOperation {
    FailedOperation {
        operation: 3,
        path: "/a".into(),
        reason: "leads nowhere".into(),
        stricter,
    }
}

fn repaired() -> Fact {
    let item = |kind, subagent: Option<&str>| ClosedItem {
        kind,
        id: "x\n".into(),
        subagent_run_id: subagent.map(|id| SubagentRunId::new(id).unwrap()),
    };
    let kinds = [
        ClosedKind::ReasoningMessage,
        ClosedKind::ReasoningSpan,
        ClosedKind::Step,
        ClosedKind::Subagent,
        ClosedKind::TextMessage,
    ];
    let mut closed: Vec<_> = kinds.map(|kind| item(kind, None)).to_vec();
    closed.push(item(ClosedKind::Step, Some("s")));
    Fact::StreamRepaired(StreamRepaired {
        by: ann(),
        run_id: run("r"),
        closed,
        more: 7,
    })
}

fn all() -> Vec<Fact> {
    let entries = vec![AnsweredEntry {
        interrupt_id: interrupt("i"),
        status: ResumeStatus::Cancelled,
    }];
    let resume = AcceptedResume {
        of: run("r0"),
        entries,
    };
    let cancel = RunCancelRequested {
        by: ann(),
        run_id: run("r"),
        reason: Some("why".into()),
    };
    let mut all = of_interrupts();
    all.extend([
        accepted(None, SubmittedContent::Input(json("{}"))),
        accepted(Some(resume), SubmittedContent::Resume(json("[]"))),
        Fact::RunCancelRequested {
            public: cancel,
            attempt: AttemptId("y".into()),
        },
        Fact::RunDispatched(RunDispatched {
            by: ann(),
            run_id: run("r"),
        }),
        Fact::RunTrailing(RunTrailing {
            by: ann(),
            run_id: run("r"),
            event_type: "X".into(),
            is_last: true,
        }),
        Fact::ActivityDiverged(ActivityDiverged {
            by: ann(),
            run_id: run("r"),
            message_id: MessageId::new("").unwrap(),
            failure: failed(true),
        }),
        Fact::StateDiverged(StateDiverged {
            by: ann(),
            run_id: run("r"),
            failure: failed(false),
        }),
        Fact::StatePatched(StatePatched {
            by: ann(),
            patch: json(r#"[{"op":"replace","path":"","value":1.50}]"#),
        }),
        repaired(),
    ]);
    all
}

#[test]
fn what_is_written_reads_back() {
    for fact in all() {
        let Body::Fact { public, private } = fact.to_body() else {
            panic!("a fact")
        };
        let value = public.to_value();
        assert!(
            value.is_err() || value.as_ref().is_ok_and(|value| value["by"]["id"] == "ann"),
            "{public}"
        );
        assert!(
            public
                .as_str()
                .starts_with(&format!("{{\"type\":\"{}\",\"by\":", fact.fact_type())),
            "{public}"
        );
        assert_eq!(Fact::read(&public, private.as_ref()).unwrap(), Some(fact));
    }
}

#[test]
fn attempts_are_private() {
    for fact in all() {
        let Body::Fact { public, private } = fact.to_body() else {
            panic!("a fact")
        };
        assert_eq!(fact.attempt().is_some(), private.is_some());
        assert!(!public.as_str().contains("attempt") && !public.as_str().contains("fingerprint"));
    }
}

#[test]
fn an_unknown_type_is_none_and_a_broken_fact_is_an_error() {
    assert_eq!(
        Fact::read(&json(r#"{"type":"claim.taken","by":{"id":"x"}}"#), None).unwrap(),
        None
    );
    assert!(Fact::read(&json(r#"{"type":"run.dispatched"}"#), None).is_err());
    assert!(Fact::read(&json("[]"), None).is_err());
    let Body::Fact { public, .. } = all()[2].to_body() else {
        panic!("a fact")
    };
    assert!(matches!(
        Fact::read(&public, None),
        Err(FactError::NoPrivate {
            fact_type: "run.accepted"
        })
    ));
}

#[test]
fn what_a_later_version_adds_is_ignored() {
    let dispatched = json(r#"{"type":"run.dispatched","by":{"id":"x"},"runId":"r","node":"n"}"#);
    assert!(matches!(
        Fact::read(&dispatched, None),
        Ok(Some(Fact::RunDispatched(_)))
    ));
}
