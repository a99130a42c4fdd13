import type { Position } from '@app/kernel';
import type { PageSource } from './log-pages';
import type { Found } from './server-reader';

/** Events to read back from the end, growing: usually the last one is ours. */
const FIRST_LOOK = 1;
const GROWTH = 10;
const LONGEST_LOOK = 1_000;

/** The end of the log, as far as it was searched. */
interface End {
  /** Our last event; null if there is none. */
  readonly head: Position | null;
  /** The first event after it, which is foreign; undefined if there is none. */
  readonly behind: Position | undefined;
  /** Up to here there are no events of ours after `head`. */
  readonly upTo: Position;
}

/** Finds our last event. Others may write many events after it: each is read once, not for every caller. */
export class OurHead {
  private known: End | undefined;

  constructor(private readonly pages: PageSource) {}

  /** Throws `ServerFault`. */
  async find(): Promise<Position | null> {
    let upTo: Position | undefined;
    let behind: Position | undefined;
    let { known } = this;
    let from: Position | null = null;
    for (let most = FIRST_LOOK; ; most = Math.min(LONGEST_LOOK, most * GROWTH)) {
      const found: Found = await this.pages.page('backwards', from, most);
      const { events, foreign, isWhole } = found;
      upTo ??= events[0]?.position;
      // A log that ends earlier than known is another log, such as an older backup.
      if (known !== undefined && (upTo === undefined || upTo < known.upTo)) known = undefined;
      for (const event of events) {
        if (known !== undefined && event.position <= known.upTo)
          return this.remember({ ...known, behind: known.behind ?? behind, upTo: upTo as Position });
        if (!foreign.has(event)) return this.remember({ head: event.position, behind, upTo: upTo as Position });
        behind = event.position;
      }
      from = found.upTo ?? behind ?? from;
      if (isWhole && events.length < most)
        return this.remember(upTo === undefined ? undefined : { head: null, behind, upTo });
    }
  }

  /** Where to read on from a position: skips what is known to be foreign. */
  pastForeign(position: Position | null): Position | null {
    const { known } = this;
    if (known === undefined) return position;
    return (position ?? '') >= (known.head ?? '') && (position ?? '') < known.upTo ? known.upTo : position;
  }

  /** Where to read back from a position, or from the end: skips what is known to be foreign. Throws `ServerFault`. */
  async beforeForeign(position: Position | null): Promise<Position | null> {
    if (this.known?.behind === undefined) return position;
    if (position === null) await this.find();
    const { known } = this;
    if (known?.behind === undefined) return position;
    return position === null || (position > known.behind && position <= known.upTo) ? known.behind : position;
  }

  private remember(end: End | undefined): Position | null {
    this.known = end;
    return end?.head ?? null;
  }
}
