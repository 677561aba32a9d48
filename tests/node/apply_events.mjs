// Applies lists of events through the published client, verification included, and prints what each amounts to.
//
// stdin:  {threadId, viewers: [[event…]…]}
// stdout: {viewers: [{messages, state, pendingInterrupts, pendingToolCalls?, error?}]}
import { Following } from "./following.mjs";
import { readJson, quiet } from "./support.mjs";

quiet();
const { threadId, viewers } = await readJson();
const done = [];
for (const events of viewers) done.push(await new Following(threadId, events).follow());
console.log(JSON.stringify({ viewers: done }));
