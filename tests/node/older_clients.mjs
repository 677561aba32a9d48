// Compares what older published clients make of downgraded streams with what the present one makes of the originals.
//
// stdin:  [{name, events: [text…], streams: [[text…]…]}…]; texts, as half a surrogate pair is no string everywhere.
//         The streams are what an older reader gets: where one cannot go on, it comes back for the next one.
// stdout: [{name, client, messages, compared, hasState, error?, differs?}…], one an older client and history: how many
//         messages the present client holds and how many of them are compared, and whether the state is; differs is
//         JSON as a text
import { isDeepStrictEqual } from "node:util";
import { Following } from "./following.mjs";
import { OLDER, comparable, resuming, withoutNews } from "./older_support.mjs";
import { held, quiet, readJson } from "./support.mjs";

quiet();

let body = "";
globalThis.fetch = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });

/** What an older client holds after its streams, or why it died. */
async function follow(HttpAgent, streams) {
  const agent = new HttpAgent({ url: "http://hub.test/", threadId: "t" });
  for (const events of streams) {
    body = events.map((text) => `data: ${text}\n\n`).join("");
    try {
      await agent.runAgent(resuming(agent));
    } catch (cause) {
      return { ...held(agent), error: String(cause?.message ?? cause) };
    }
  }
  return held(agent);
}

const verdicts = [];
for (const { name, events, streams } of await readJson()) {
  const parsed = events.map((text) => JSON.parse(text));
  const told = streams.map((stream) => stream.map((text) => JSON.parse(text)));
  const present = await new Following("t", parsed).follow();
  if (present.error !== undefined) throw new Error(`${name}: the present client gave up: ${present.error}`);
  const expected = comparable(withoutNews(present, parsed, told), parsed);
  for (const { client, HttpAgent, knows } of OLDER) {
    const { error, ...held } = await follow(HttpAgent, streams);
    const found = comparable(JSON.parse(JSON.stringify(held)), parsed);
    const known = knows(expected, parsed);
    const verdict = {
      name,
      client,
      messages: present.messages.length,
      compared: known.messages.length,
      hasState: known.state !== undefined,
    };
    if (error !== undefined) verdict.error = error;
    else if (!isDeepStrictEqual(knows(found, parsed), known)) {
      verdict.differs = JSON.stringify({ found: knows(found, parsed), expected: known });
    }
    verdicts.push(verdict);
  }
}
console.log(JSON.stringify(verdicts));
