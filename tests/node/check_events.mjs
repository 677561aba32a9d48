// Validates events against the published schemas of AG-UI.
//
// stdin:  [{name, text}…], each text one event, or a frame with `event` or `events` inside
// stdout: [{name, error?}…], one an event; types unknown to the protocol are relayed material and not judged
import { EventType } from "@ag-ui/core";
import { EventSchemas } from "@ag-ui/core/schemas";
import { readJson } from "./support.mjs";

const files = await readJson();
const verdicts = files.flatMap(({ name, text }) => {
  const value = JSON.parse(text);
  const events = value.op === undefined ? [value] : (value.events ?? (value.event ? [value.event] : []));
  const known = events.filter((event) => event.type in EventType);
  return known.map((event) => {
    const verdict = EventSchemas.safeParse(event);
    return verdict.success ? { name } : { name, error: verdict.error.message };
  });
});
console.log(JSON.stringify(verdicts));
