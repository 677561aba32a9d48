//! Every event type once, with what it must refuse.

/// A good event; its required members with a value each refuses (`None` if there is none); its
/// optional ones likewise.
pub(super) struct Case {
    pub(super) example: &'static str,
    pub(super) required: &'static [(&'static str, Option<&'static str>)],
    pub(super) optional: &'static [(&'static str, &'static str)],
}

const TEXT: Option<&str> = Some("5");

#[rustfmt::skip]
pub(super) const CASES: &[Case] = &[
    Case {
        example: r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0","parentRunId":"p","input":{"threadId":"t","runId":"r","messages":[]}}"#,
        required: &[("threadId", Some("\"\"")), ("runId", Some("\"a\\u0000\""))],
        optional: &[("protocolVersion", "1"), ("parentRunId", "null"), ("input", "null"), ("input", "{}")],
    },
    Case {
        example: r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":1,"outcome":{"type":"success"},"usage":[{"model":"m","inputTokens":5.0}]}"#,
        required: &[("threadId", TEXT), ("runId", TEXT)],
        optional: &[
            ("outcome", "[]"), ("outcome", "\"success\""), ("outcome", r#"{"type":"interrupt"}"#),
            ("outcome", r#"{"type":"interrupt","interrupts":[]}"#), ("outcome", r#"{"type":"success","pendingToolCallIds":[1]}"#),
            ("usage", "{}"), ("usage", "[1]"), ("usage", r#"[{"inputTokens":-1}]"#), ("usage", r#"[{"totalTokens":9007199254740992}]"#),
            ("usage", r#"[{"model":null}]"#),
        ],
    },
    Case {
        example: r#"{"type":"RUN_ERROR","message":"m","code":"c","usage":[]}"#,
        required: &[("message", Some("null"))],
        optional: &[("code", "1"), ("usage", "null")],
    },
    Case { example: r#"{"type":"STEP_STARTED","stepName":"s"}"#, required: &[("stepName", TEXT)], optional: &[] },
    Case { example: r#"{"type":"STEP_FINISHED","stepName":"s"}"#, required: &[("stepName", TEXT)], optional: &[] },
    Case {
        example: r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"user","name":"n"}"#,
        required: &[("messageId", TEXT)],
        optional: &[("role", "\"wizard\""), ("role", "\"tool\""), ("role", "null"), ("name", "null")],
    },
    Case {
        example: r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":""}"#,
        required: &[("messageId", Some("\"\\ud83d\"")), ("delta", Some("[]"))],
        optional: &[],
    },
    Case { example: r#"{"type":"TEXT_MESSAGE_END","messageId":""}"#, required: &[("messageId", TEXT)], optional: &[] },
    Case {
        example: r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"assistant","name":"n","delta":"d"}"#,
        required: &[],
        optional: &[("messageId", "null"), ("role", "\"tool\""), ("name", "1"), ("delta", "null")],
    },
    Case {
        example: r#"{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"n","parentMessageId":"m"}"#,
        required: &[("toolCallId", TEXT), ("toolCallName", Some("{}"))],
        optional: &[("parentMessageId", "1")],
    },
    Case {
        example: r#"{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{"}"#,
        required: &[("toolCallId", TEXT), ("delta", Some("{}"))],
        optional: &[],
    },
    Case { example: r#"{"type":"TOOL_CALL_END","toolCallId":"c"}"#, required: &[("toolCallId", TEXT)], optional: &[] },
    Case {
        example: r#"{"type":"TOOL_CALL_CHUNK","toolCallId":"c","toolCallName":"n","parentMessageId":"m","delta":"d"}"#,
        required: &[],
        optional: &[("toolCallId", "null"), ("toolCallName", "null"), ("parentMessageId", "1"), ("delta", "1")],
    },
    Case {
        example: r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"x","role":"tool"}"#,
        required: &[("messageId", TEXT), ("toolCallId", TEXT), ("content", Some("{}"))],
        optional: &[("role", "\"user\""), ("role", "null")],
    },
    Case { example: r#"{"type":"STATE_SNAPSHOT","snapshot":null}"#, required: &[("snapshot", Some("1e999"))], optional: &[] },
    Case {
        example: r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":null}]}"#,
        required: &[("delta", Some("{}"))],
        optional: &[
            ("delta", "[1]"), ("delta", r#"[{"op":"add","path":"b","value":1}]"#), ("delta", r#"[{"op":"add","path":"/b"}]"#),
            ("delta", r#"[{"op":"test","path":"/b"}]"#), ("delta", r#"[{"op":"remove"}]"#), ("delta", r#"[{"op":"copy","path":"/b"}]"#),
            ("delta", r#"[{"op":"move","from":"~","path":"/b"}]"#), ("delta", r#"[{"op":"remove","path":"/~2"}]"#),
        ],
    },
    Case {
        example: r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant"}]}"#,
        required: &[("messages", Some("{}"))],
        optional: &[
            ("messages", "[1]"), ("messages", r#"[{"role":"assistant"}]"#), ("messages", r#"[{"id":"m","role":"assistant","content":null}]"#),
            ("messages", r#"[{"id":"m","role":"assistant","content":[]}]"#), ("messages", r#"[{"id":"m","role":"user"}]"#),
            ("messages", r#"[{"id":"m","role":"tool","content":"x"}]"#), ("messages", r#"[{"id":"m","role":"system","content":[]}]"#),
            ("messages", r#"[{"id":"m","role":"activity","activityType":"a","content":"x"}]"#),
            ("messages", r#"[{"id":"m","role":"reasoning","content":"x","subagentRunId":null}]"#),
            ("messages", r#"[{"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"other","function":{"name":"n","arguments":""}}]}]"#),
            ("messages", r#"[{"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"n"}}]}]"#),
            ("messages", r#"[{"id":"m","role":"user","content":[{"type":"text"}]}]"#),
            ("messages", r#"[{"id":"m","role":"user","content":[{"type":"image"}]}]"#),
            ("messages", r#"[{"id":"m","role":"user","content":[{"type":"image","source":{"type":"data","value":"x"}}]}]"#),
            ("messages", r#"[{"id":"m","role":"user","content":[{"type":"image","source":"x"}]}]"#),
            ("messages", r#"[{"id":"m","role":"user","content":["x"]}]"#),
        ],
    },
    Case {
        example: r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"a","content":{"x":null},"replace":false}"#,
        required: &[("messageId", TEXT), ("activityType", TEXT), ("content", Some("[]"))],
        optional: &[("replace", "0"), ("replace", "null")],
    },
    Case {
        example: r#"{"type":"ACTIVITY_DELTA","messageId":"m","activityType":"a","patch":[]}"#,
        required: &[("messageId", TEXT), ("activityType", TEXT), ("patch", Some("null"))],
        optional: &[],
    },
    Case { example: r#"{"type":"REASONING_START","messageId":"m"}"#, required: &[("messageId", TEXT)], optional: &[] },
    Case { example: r#"{"type":"REASONING_END","messageId":"m"}"#, required: &[("messageId", TEXT)], optional: &[] },
    Case {
        example: r#"{"type":"REASONING_MESSAGE_START","messageId":"m","role":"reasoning"}"#,
        required: &[("messageId", TEXT), ("role", Some("\"assistant\""))],
        optional: &[],
    },
    Case {
        example: r#"{"type":"REASONING_MESSAGE_CONTENT","messageId":"m","delta":"d"}"#,
        required: &[("messageId", TEXT), ("delta", TEXT)],
        optional: &[],
    },
    Case { example: r#"{"type":"REASONING_MESSAGE_END","messageId":"m"}"#, required: &[("messageId", TEXT)], optional: &[] },
    Case {
        example: r#"{"type":"REASONING_MESSAGE_CHUNK","messageId":"m","delta":"d"}"#,
        required: &[],
        optional: &[("messageId", "null"), ("delta", "null")],
    },
    Case {
        example: r#"{"type":"REASONING_ENCRYPTED_VALUE","subtype":"tool-call","entityId":"c","encryptedValue":"v"}"#,
        required: &[("subtype", Some("\"step\"")), ("entityId", TEXT), ("encryptedValue", TEXT)],
        optional: &[],
    },
    Case {
        example: r#"{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n","description":"d","parentSubagentRunId":"p","parentToolCallId":"c","parentMessageId":"m"}"#,
        required: &[("subagentRunId", Some("null")), ("name", TEXT)],
        optional: &[("description", "1"), ("parentSubagentRunId", "null"), ("parentToolCallId", "1"), ("parentMessageId", "null")],
    },
    Case {
        example: r#"{"type":"SUBAGENT_FINISHED","subagentRunId":"s","result":[],"outcome":{"type":"suspended","interruptIds":["i"]}}"#,
        required: &[("subagentRunId", TEXT)],
        optional: &[("outcome", "null"), ("outcome", "[]"), ("outcome", r#"{"type":"suspended","interruptIds":"i"}"#)],
    },
    Case {
        example: r#"{"type":"SUBAGENT_ERROR","subagentRunId":"s","message":"m","code":"c"}"#,
        required: &[("subagentRunId", TEXT), ("message", TEXT)],
        optional: &[("code", "null")],
    },
    Case { example: r#"{"type":"RAW","event":null,"source":"s"}"#, required: &[("event", None)], optional: &[("source", "null")] },
    Case { example: r#"{"type":"CUSTOM","name":"n","value":null}"#, required: &[("name", TEXT), ("value", None)], optional: &[] },
];
