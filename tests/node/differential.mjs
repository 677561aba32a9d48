// Compares what the published client makes of streams with what another reader of AG-UI made of them.
//
// stdin:  one line a stream, until it is closed:
//         {id, events: [text…], broken: index | null, held: {messages, state, pendingInterrupts, pending}}
//         held is a text too: half a surrogate pair is no string everywhere
// stdout: one line a stream, in order: {id, broken, error?, parts: [name…], differs}
//         broken is where the client gave up and error why; differs has both sides of the parts that are not the same
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";
import { enforceEvents } from "@ag-ui/client";
import { of } from "rxjs";
import { follow } from "./differential_client.mjs";
import { quiet } from "./support.mjs";

quiet();

const plain = (value) => JSON.parse(JSON.stringify(value));

/** What the client's own enforcement leaves of an event: members that it does not describe are gone. */
function enforced(event) {
  let kept;
  of(event)
    .pipe(enforceEvents())
    .subscribe({ next: (value) => (kept = value), error: (cause) => (kept = { error: String(cause) }) });
  return plain(kept);
}

/** The same parts as the client holds them, minted ids by their order. */
function comparable({ messages, state, pendingInterrupts, pending, broken }) {
  const parts = {
    broken,
    messages: enforced({ type: "MESSAGES_SNAPSHOT", messages: plain(messages) }),
    count: messages.length,
    state: plain(state),
    interrupts: pendingInterrupts.length
      ? enforced({
          type: "RUN_FINISHED",
          threadId: "t",
          runId: "r",
          outcome: { type: "interrupt", interrupts: plain(pendingInterrupts) },
        })
      : [],
    pending,
  };
  let minted = 0;
  for (const message of parts.messages.messages ?? []) {
    if (MINTED.test(message.id)) message.id = `minted ${(minted += 1)}`;
  }
  return parts;
}

const MINTED = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$|:thinking-[0-9]+$/;

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { id, events, broken, held } = JSON.parse(line);
  const followed = await follow(events);
  const client = comparable(followed);
  const other = comparable({ broken, ...JSON.parse(held) });
  const parts = Object.keys(client).filter((part) => !isDeepStrictEqual(client[part], other[part]));
  const told = (part) => `${part}\n  the client: ${JSON.stringify(client[part])}\n  the other: ${JSON.stringify(other[part])}`;
  const answer = { id, broken: followed.broken, error: followed.error, parts, differs: parts.map(told).join("\n") };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
