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

  /** Applies all events; what the client holds then, and why it gave up if it did. */
  async follow() {
    try {
      await this.runAgent({});
      return held(this);
    } catch (cause) {
      return { ...held(this), error: String(cause?.message ?? cause) };
    }
  }
}
