// A client of the published package that is given its events instead of asking an agent for them.
import { AbstractAgent } from "@ag-ui/client";
import { from } from "rxjs";
import { held } from "./support.mjs";

export class Following extends AbstractAgent {
  constructor(threadId, events) {
    super({ threadId });
    this.events = events;
  }

  run() {
    return from(this.events);
  }

  /** Applies all events; what the client holds then, which calls its last run left, and why it gave up if it did. */
  async follow() {
    let pendingToolCalls;
    const subscriber = {
      onRunStartedEvent: () => void (pendingToolCalls = undefined),
      onRunFinishedEvent: ({ pendingToolCallIds }) => void (pendingToolCalls = pendingToolCallIds),
    };
    try {
      await this.runAgent({}, subscriber);
      return { ...held(this), pendingToolCalls };
    } catch (cause) {
      return { ...held(this), pendingToolCalls, error: String(cause?.message ?? cause) };
    }
  }
}
