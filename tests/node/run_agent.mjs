// Drives an unmodified HttpAgent through a list of runs and prints what it holds after each.
//
// stdin:  {client?, url, threadId, steps: [{runId, append: [message…], resume?, answers?, tools?, context?, forwardedProps?}]}
//         `client` is the package that is driven, the present one if absent
//         `answers` are payloads for the interrupts pending then, in their order
// stdout: {steps: [{messages, state, pendingInterrupts, error?}]}
import { readJson, held, quiet } from "./support.mjs";

quiet();
const { client = "@ag-ui/client", url, threadId, steps } = await readJson();
const { HttpAgent } = await import(client);
const agent = new HttpAgent({ url, threadId });
const done = [];
for (const step of steps) {
  const known = new Set(agent.messages.map((message) => message.id));
  agent.setMessages([...agent.messages, ...step.append.filter((message) => !known.has(message.id))]);
  const resume = step.resume ?? step.answers?.map((payload, index) => ({
    interruptId: agent.pendingInterrupts[index].id,
    status: "resolved",
    payload,
  }));
  let error;
  try {
    await agent.runAgent({
      runId: step.runId,
      tools: step.tools,
      context: step.context,
      forwardedProps: step.forwardedProps,
      ...(resume ? { resume } : {}),
    });
  } catch (cause) {
    error = { message: String(cause?.message ?? cause), status: cause?.status, payload: cause?.payload };
  }
  done.push({ ...held(agent), ...(error ? { error } : {}) });
}
console.log(JSON.stringify({ steps: done }));
