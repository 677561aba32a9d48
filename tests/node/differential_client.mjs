// The published client as it reads an agent's answer over HTTP, fed one event after the other.
import { AbstractAgent, transformHttpEventStream } from "@ag-ui/client";
import { Subject } from "rxjs";
import { held } from "./support.mjs";

const encoder = new TextEncoder();

/** All of the client's stages run in microtasks, so what one event does is done by then. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

class FedAgent extends AbstractAgent {
  constructor(threadId) {
    super({ threadId });
    this.body = new Subject();
  }

  run() {
    const events = transformHttpEventStream(this.body);
    this.body.next({ type: "headers", status: 200, headers: new Headers({ "content-type": "text/event-stream" }) });
    return events;
  }
}

/**
 * Feeds `events`, JSON texts, until the client gives up.
 *
 * `broken` is the index of the event at which it did, or null; what it held then is kept. `pending` has the tool calls
 * that wait for a result by each RUN_FINISHED with success.
 */
export async function follow(events) {
  const agent = new FedAgent("t");
  const pending = [];
  let broken = null;
  let error;
  let isOver = false;
  const run = agent
    .runAgent({}, { onRunFinishedEvent: ({ pendingToolCallIds: ids }) => void (ids && pending.push(ids)) })
    .catch((cause) => (error = String(cause?.message ?? cause)))
    .finally(() => (isOver = true));
  await settled();
  for (let index = 0; index < events.length && !isOver; index += 1) {
    agent.body.next({ type: "data", data: encoder.encode(`data: ${events[index]}\n\n`) });
    await settled();
    if (error !== undefined) broken = index;
  }
  agent.body.complete();
  await run;
  return { ...held(agent), pending, broken, ...(error === undefined ? {} : { error }) };
}
