import type { Json, Position, RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import type { Row } from '@app/read-store';
import { type Change, changesBetween } from './changes';
import { foldEvent, type Rows } from './row-fold';

/** How one object is shown: the view its API reads, the row it is, and the presenter of that API. */
export interface ObjectView {
  readonly projection: RowProjection;
  readonly key: string;
  /** `rows` are those of the view, as the object's events left them: its API may join others, where it `joins`. */
  readonly present: (row: Row, rows: Rows) => Readonly<Record<string, Json>>;
  readonly joins?: boolean | undefined;
}

/** What one event did to an object. */
export interface HistoryItem {
  readonly position: Position;
  /** When it was recorded, ISO 8601 UTC. */
  readonly at: string;
  readonly actor: string;
  readonly type: string;
  readonly changes: readonly Change[];
}

type Events = AsyncIterable<RecordedEvent> | Iterable<RecordedEvent>;

/** How an object came to its end. */
export interface Removal {
  readonly type: string;
  /** When it was recorded, ISO 8601 UTC. */
  readonly at: string;
  /** The last position at which the object was there. */
  readonly before: Position;
}

/** An object after some events. */
export interface ObjectAfter {
  /** As its API would have shown it; null where it did not exist (any more). */
  readonly shown: Readonly<Record<string, Json>> | null;
  /** Where it was there before. */
  readonly removed?: Removal;
}

/** The object as these events left it. */
export const objectAfter = async (view: ObjectView, events: Events): Promise<ObjectAfter> => {
  const rows: Rows = new Map();
  let removed: Removal | undefined;
  let before: Position | undefined;
  for await (const event of events) {
    const wasThere = rows.has(view.key);
    foldEvent(rows, view.projection, event, onlyOf(view));
    const { position, recordedAt: at } = event.context;
    if (wasThere && before !== undefined && !rows.has(view.key)) removed = { type: event.type, at, before };
    before = position;
  }
  const after = shown(view, rows);
  return after === null && removed !== undefined ? { shown: after, removed } : { shown: after };
};

/** What each event changed in the object, oldest first; events that changed nothing are left out. */
export async function* historyOf(view: ObjectView, events: Events): AsyncGenerator<HistoryItem> {
  const rows: Rows = new Map();
  let before = shown(view, rows);
  for await (const event of events) {
    foldEvent(rows, view.projection, event, onlyOf(view));
    const after = shown(view, rows);
    const changes = changesBetween(before, after);
    if (changes.length > 0)
      yield {
        position: event.context.position,
        at: event.context.recordedAt,
        actor: event.context.actor,
        type: event.type,
        changes,
      };
    before = after;
  }
}

const onlyOf = ({ joins, key }: ObjectView): string | undefined => (joins === true ? undefined : key);

const shown = (view: ObjectView, rows: Rows): Readonly<Record<string, Json>> | null => {
  const row = rows.get(view.key);
  return row === undefined ? null : view.present(row, rows);
};
