import type { Position } from '@app/kernel';
import type { PageSource } from './log-pages';

/** Events that are read back from the end, more each time: as a rule the last one is ours. */
const FIRST_LOOK = 1;
const GROWTH = 10;
const LONGEST_LOOK = 1_000;

/** Finds the last event of ours. Others may write many behind it: each of them is read once, not at every question. */
export class OurHead {
  /** Up to `upTo` the log was looked through, and `head` is the last of ours there. */
  private known: { readonly upTo: Position; readonly head: Position | null } | undefined;

  constructor(private readonly pages: PageSource) {}

  /** Throws `ServerFault`. */
  async find(): Promise<Position | null> {
    let end: Position | undefined;
    let { known } = this;
    for (let from: Position | null = null, most = FIRST_LOOK; ; most = Math.min(LONGEST_LOOK, most * GROWTH)) {
      const { events, foreign, isWhole } = await this.pages.page('backwards', from, most);
      end ??= events[0]?.position;
      // A log that ends before what was known is another one, such as an older backup.
      if (known !== undefined && (end === undefined || end < known.upTo)) known = undefined;
      for (const event of events) {
        if (known !== undefined && event.position <= known.upTo) return this.remember(end, known.head);
        if (!foreign.has(event)) return this.remember(end, event.position);
        from = event.position;
      }
      if (isWhole && events.length < most) return this.remember(end, null);
    }
  }

  private remember(upTo: Position | undefined, head: Position | null): Position | null {
    this.known = upTo === undefined ? undefined : { upTo, head };
    return head;
  }
}
