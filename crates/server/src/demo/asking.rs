//! The run that looks into a case and stops to ask whether the refund may be paid.

use serde_json::{Value, json};
use threadcast_agui::run_input::RunInput;

use super::case::{Case, Mood, euros, id_prefix};
use super::script::Script;

/// The tool that needs a person's word.
pub(crate) const REFUND_TOOL: &str = "issue_refund";

pub(crate) fn script(input: &RunInput) -> Script {
    let case = Case::of(input);
    let id = id_prefix(input);
    let mut script = Script::start(input);
    think(&mut script, &case, &id);
    look_up(&mut script, &case, &id);
    let refund = propose(&mut script, &case, &id);
    script.wait(200);
    script.finish(
        input,
        &json!({ "type": "interrupt", "interrupts": [question(&case, &refund)] }),
    )
}

fn think(script: &mut Script, case: &Case, id: &str) {
    let order = case.order;
    script.wait(150);
    script.say(&json!({ "type": "STEP_STARTED", "stepName": "understand" }));
    script.reasoning(
        &format!("think-{id}"),
        &format!(
            "The customer is writing about order {order}. I need the order itself and the refund policy; neither \
             depends on the other, so I can ask for both at once."
        ),
    );
    script.say(&json!({ "type": "STEP_FINISHED", "stepName": "understand" }));
    script.say(&json!({
        "type": "STATE_SNAPSHOT",
        "snapshot": { "order": { "id": order }, "refund": { "status": "checking" } },
    }));
}

fn look_up(script: &mut Script, case: &Case, id: &str) {
    let order = case.order;
    let opening = match case.mood {
        Mood::Angry => format!(
            "I am sorry about the trouble with order {order}. Let me look into it right away."
        ),
        Mood::Asking => format!("Of course, let me check order {order} for you."),
        Mood::Greeting => {
            format!("Hello! I found order {order} under your name; let me see what I can do.")
        }
        Mood::Plain => format!("Let me look at order {order}."),
    };
    let message = format!("say-{id}-1");
    script.text(&message, &opening);

    script.say(&json!({ "type": "STEP_STARTED", "stepName": "look up" }));
    let progress = format!("progress-{id}");
    script.say(&json!({
        "type": "ACTIVITY_SNAPSHOT", "messageId": progress, "activityType": "progress",
        "content": { "title": format!("Order {order}"), "steps": [
            { "label": "Find the order", "done": false }, { "label": "Read the refund policy", "done": false },
        ]},
    }));
    let (found, policy) = (format!("order-{id}"), format!("policy-{id}"));
    script.calls(
        &message,
        &[
            (&found, "lookup_order", json!({ "orderId": order })),
            (
                &policy,
                "check_refund_policy",
                json!({ "orderId": order, "channel": "web" }),
            ),
        ],
    );
    script.wait(350);
    script.result(
        &policy,
        &json!({ "refundable": true, "withinDays": 30, "needsApproval": true }),
    );
    script.say(&tick(&progress, 1));
    script.wait(400);
    script.result(&found, &json!({ "orderId": order, "item": case.item, "price": amount(case), "daysAgo": case.days_ago }));
    script.say(&tick(&progress, 0));
    script.say(&json!({ "type": "STATE_DELTA", "delta": [
        { "op": "add", "path": "/order/item", "value": case.item },
        { "op": "add", "path": "/order/price", "value": amount(case) },
        { "op": "replace", "path": "/refund/status", "value": "proposed" },
    ]}));
    script.say(&json!({ "type": "STEP_FINISHED", "stepName": "look up" }));
}

/// Says what will be done and calls the tool without running it; gives the call's id.
fn propose(script: &mut Script, case: &Case, id: &str) -> String {
    let message = format!("say-{id}-2");
    script.text(
        &message,
        &format!(
            "The {} was bought {} days ago, well within the 30 days of our policy. I would refund the full {}. A \
             colleague has to approve that.",
            case.item,
            case.days_ago,
            euros(case.price),
        ),
    );
    let refund = format!("refund-{id}");
    script.calls(
        &message,
        &[(
            &refund,
            REFUND_TOOL,
            json!({ "orderId": case.order, "amount": amount(case) }),
        )],
    );
    script.say(&json!({ "type": "STATE_DELTA", "delta": [
        { "op": "add", "path": "/refund/amount", "value": amount(case) },
        { "op": "replace", "path": "/refund/status", "value": "waiting for approval" },
    ]}));
    refund
}

fn question(case: &Case, refund: &str) -> Value {
    json!({
        "id": format!("int-{refund}"),
        "reason": "tool_call",
        "message": format!("Refund {} for order {} ({})?", euros(case.price), case.order, case.item),
        "toolCallId": refund,
        "responseSchema": {
            "type": "object",
            "properties": {
                "approved": { "type": "boolean", "title": "Approve the refund" },
                "amount": {
                    "type": "number", "title": "Amount in EUR, if another", "minimum": 0, "maximum": amount(case),
                },
                "reason": { "type": "string", "title": "Reason, if any", "maxLength": 500 },
            },
            "required": ["approved"],
            "additionalProperties": false,
        },
    })
}

fn tick(progress: &str, step: usize) -> Value {
    json!({
        "type": "ACTIVITY_DELTA", "messageId": progress, "activityType": "progress",
        "patch": [{ "op": "replace", "path": format!("/steps/{step}/done"), "value": true }],
    })
}

fn amount(case: &Case) -> f64 {
    f64::from(case.price) / 100.0
}
