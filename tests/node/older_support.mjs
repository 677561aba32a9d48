// The older clients, and what they hold of what the present one holds.
import { HttpAgent as Agent57 } from "ag-ui-client-0-0-57";
import { HttpAgent as Agent59 } from "ag-ui-client-0-0-59";

/** The last client that knows no subagents, and the last one before 1.0, each with what is compared of it. */
export const OLDER = [
  { client: "0.0.57", HttpAgent: Agent57, knows: asBeforeMetadata },
  { client: "0.0.59", HttpAgent: Agent59, knows: (held) => held },
];

/**
 * 0.0.57 knows no metadata and adds a call once more when it is begun again; for a list it moves nothing and takes no
 * activity away.
 */
function asBeforeMetadata(held, events) {
  const begun = events.filter(({ type }) => type === "TOOL_CALL_START").map(({ toolCallId }) => toolCallId);
  const listed = events.flatMap((event) => event.messages ?? []).flatMap(({ toolCalls }) => toolCalls ?? []);
  const calls = [...begun, ...new Set(listed.map(({ id }) => id))];
  const isBegunAgain = new Set(calls).size < calls.length;
  const isRestated = events.some(({ type }) => type === "MESSAGES_SNAPSHOT");
  const parents = new Set(isBegunAgain ? events.map(({ parentMessageId }) => parentMessageId) : []);
  const isOfCall = ({ id, role }) => isBegunAgain && (role === "assistant" || parents.has(id));
  const isLike = (message) => !isOfCall(message) && !(isRestated && message.role === "activity");
  const kept = held.messages.filter(isLike).map(({ metadata: _, ...message }) => ({
    ...message,
    ...(message.toolCalls ? { toolCalls: message.toolCalls.map(({ metadata: _, ...call }) => call) } : {}),
  }));
  const byId = ({ id: a }, { id: b }) => (a < b ? -1 : Number(a > b));
  return { ...held, messages: isRestated ? kept.toSorted(byId) : kept };
}

/** Answers to all that is pending: an older client, too, follows nothing before it has them. */
export function resuming(agent) {
  const pending = agent.pendingInterrupts ?? [];
  return pending.length ? { resume: pending.map(({ id }) => ({ interruptId: id, status: "cancelled" })) } : {};
}

const isFile = (part) => part.source?.type === "file";

function message({ subagentRunId: _, ...kept }) {
  if (!Array.isArray(kept.content)) return kept;
  if (kept.role === "tool") {
    kept.content = kept.content.map((part) => (part.type === "text" ? part.text : "")).join("");
  } else {
    kept.content = kept.content.filter((part) => !isFile(part)).map(part);
  }
  return kept;
}

/** Parts had no ids, and text no metadata. */
function part({ id: _, ...kept }) {
  if (kept.type === "text") delete kept.metadata;
  return kept;
}

/** The kinds of message that each id names in a history: older clients know a message by its id alone. */
function kinds(events) {
  const found = new Map();
  const add = (id, kind) => found.set(id, (found.get(id) ?? new Set()).add(kind));
  for (const event of events) {
    if (event.type.startsWith("TEXT_")) add(event.messageId, "text");
    if (event.type.startsWith("REASONING_MESSAGE")) add(event.messageId, "reasoning");
    if (event.type.startsWith("ACTIVITY_")) add(event.messageId, "activity");
    if (event.type === "TOOL_CALL_RESULT") add(event.messageId, "tool");
    if (event.type === "TOOL_CALL_START") add(event.parentMessageId ?? event.toolCallId, "text");
    for (const { id, role } of [...(event.messages ?? []), ...(event.input?.messages ?? [])]) {
      add(id, ["activity", "reasoning", "tool"].includes(role) ? role : "text");
    }
  }
  return found;
}

/** What of a client is compared: all but what older clients have no words for. */
export function comparable({ messages, state, pendingInterrupts }, events) {
  const found = kinds(events);
  const isOneKind = ({ id }) => (found.get(id)?.size ?? 1) === 1;
  const isKept = ({ role }) => role !== "activity" || !events.some(ownsActivities);
  return {
    messages: messages.filter((message) => isOneKind(message) && isKept(message)),
    ...(isNullOnce(events) ? {} : { state }),
    pendingInterrupts,
  };
}

/** A list that says which activities it owns; older clients decide that otherwise. */
function ownsActivities({ type, metadata }) {
  return type === "MESSAGES_SNAPSHOT" && metadata?.["@ag-ui/client"] !== undefined;
}

/** Older clients do not take a state that is null: they keep the one before it. */
function isNullOnce(events) {
  const isNull = (operation) => operation.path === "" && (operation.op === "remove" || operation.value === null);
  return events.some(({ type, snapshot, delta }) =>
    type === "STATE_SNAPSHOT" ? snapshot === null : type === "STATE_DELTA" && delta.some(isNull),
  );
}

/** What the present client holds, as one that knows neither owners nor parts in results nor cancelled runs holds it. */
export function withoutNews({ messages, state, pendingInterrupts }, events, streams) {
  return JSON.parse(
    JSON.stringify({
      messages: messages.map(message),
      state,
      pendingInterrupts: pending(events, streams) ?? pendingInterrupts.map(({ subagentRunId: _, ...kept }) => kept),
    }),
  );
}

/** A run that was cancelled has failed for an older client, and a failure answers nothing: what was pending stays so. */
function pending(events, streams) {
  const isCancelled = ({ outcome }) => outcome?.type === "cancelled";
  if (!events.some(isCancelled)) return undefined;
  const finished = streams.flat().filter(({ type }) => type === "RUN_FINISHED");
  return finished.at(-1)?.outcome?.interrupts ?? [];
}
