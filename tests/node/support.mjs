// What the scripts share: JSON in, and the part of an agent that is compared.

/** Reads all of stdin as one JSON value. */
export async function readJson() {
  let text = "";
  process.stdin.setEncoding("utf8");
  for await (const piece of process.stdin) text += piece;
  return JSON.parse(text);
}

/** What an agent holds and shows. */
export function held(agent) {
  return {
    messages: agent.messages,
    state: agent.state,
    pendingInterrupts: agent.pendingInterrupts ?? [],
  };
}

/** Keeps the client's warnings away from stdout, which carries the answer. */
export function quiet() {
  console.warn = () => {};
  console.error = () => {};
  console.info = () => {};
  console.debug = () => {};
}
