// Compares what the published client makes of histories with what their fixtures say.
//
// stdin:  [{name, events: [text…], fold: text}…]; texts, as half a surrogate pair is no string everywhere
// stdout: [{name, error?}…]
import { isDeepStrictEqual } from "node:util";
import { Following } from "./following.mjs";
import { readJson, quiet } from "./support.mjs";

quiet();
const verdicts = [];
for (const { name, events, fold } of await readJson()) {
  const parsed = events.map((text) => JSON.parse(text));
  const started = parsed.find((event) => event.type === "RUN_STARTED");
  const held = await new Following(started.threadId, parsed).follow();
  const expected = JSON.parse(fold);
  const differing = ["messages", "state", "pendingInterrupts"].filter(
    (part) => !isDeepStrictEqual(JSON.parse(JSON.stringify(held[part])), expected[part]),
  );
  const error = held.error ?? (differing.length ? { differing, held, expected } : undefined);
  verdicts.push({ name, ...(error ? { error } : {}) });
}
console.log(JSON.stringify(verdicts));
