// Has viewers follow histories through the published client, verification included, and tells whose end differs.
//
// stdin:  [{name, threadId, texts: [text…], viewers: [[index of a text…]…]}…]; the first viewer is the one to be equal to
// stdout: {viewers, differences: [{name, viewer, differing, error?, held, expected}…]}, at most ten a history
import { isDeepStrictEqual } from "node:util";
import { Following } from "./following.mjs";
import { readJson, quiet } from "./support.mjs";

quiet();
const PARTS = ["messages", "state", "pendingInterrupts", "pendingToolCalls", "error"];
const differences = [];
let count = 0;
for (const { name, threadId, texts, viewers } of await readJson()) {
  let expected;
  let told = 0;
  for (const [viewer, indices] of viewers.entries()) {
    // Parsed anew for each, as a client may keep what it is given.
    const held = await new Following(threadId, indices.map((index) => JSON.parse(texts[index]))).follow();
    count += 1;
    expected ??= held;
    const differing = PARTS.filter((part) => !isDeepStrictEqual(held[part], expected[part]));
    if (expected.error !== undefined) differing.push("the history itself");
    if (differing.length > 0 && told++ < 10) differences.push({ name, viewer, differing, held, expected });
  }
}
console.log(JSON.stringify({ viewers: count, differences }));
