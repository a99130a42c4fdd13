import type { Position } from '@app/kernel';
import type { PageSource } from './log-pages';

/** Events that are read back from the end, more each time: as a rule the last one is ours. */
const FIRST_LOOK = 1;
const GROWTH = 10;
const LONGEST_LOOK = 1_000;

/** The end of the log, as far as it was looked through. */
interface End {
  /** The last event of ours; null where there is none. */
  readonly head: Position | null;
  /** The first event behind that one, others' then; undefined where there is none. */
  readonly behind: Position | undefined;
  /** Up to here nothing of ours lies behind `head`. */
  readonly upTo: Position;
}

/** Finds the last event of ours. Others may write many behind it: each of them is read once, not at every question, nor by everybody who reads on from there. */
export class OurHead {
  private known: End | undefined;

  constructor(private readonly pages: PageSource) {}

  /** Throws `ServerFault`. */
  async find(): Promise<Position | null> {
    let upTo: Position | undefined;
    let behind: Position | undefined;
    let { known } = this;
    for (let most = FIRST_LOOK; ; most = Math.min(LONGEST_LOOK, most * GROWTH)) {
      const { events, foreign, isWhole } = await this.pages.page('backwards', behind ?? null, most);
      upTo ??= events[0]?.position;
      // A log that ends before what was known is another one, such as an older backup.
      if (known !== undefined && (upTo === undefined || upTo < known.upTo)) known = undefined;
      for (const event of events) {
        if (known !== undefined && event.position <= known.upTo)
          return this.remember({ ...known, behind: known.behind ?? behind, upTo: upTo as Position });
        if (!foreign.has(event)) return this.remember({ head: event.position, behind, upTo: upTo as Position });
        behind = event.position;
      }
      if (isWhole && events.length < most)
        return this.remember(upTo === undefined ? undefined : { head: null, behind, upTo });
    }
  }

  /** Where to read on from a position: past what is known to hold nothing of ours. */
  pastForeign(position: Position | null): Position | null {
    const { known } = this;
    if (known === undefined) return position;
    return (position ?? '') >= (known.head ?? '') && (position ?? '') < known.upTo ? known.upTo : position;
  }

  /** Where to read back from a position, or from the end: before what is known to hold nothing of ours. Throws `ServerFault`. */
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
