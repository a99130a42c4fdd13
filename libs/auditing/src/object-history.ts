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

/** The object as its API would have shown it after these events; null where it did not exist (any more). */
export const objectAfter = async (view: ObjectView, events: Events): Promise<Readonly<Record<string, Json>> | null> => {
  const rows: Rows = new Map();
  for await (const event of events) foldEvent(rows, view.projection, event, onlyOf(view));
  return shown(view, rows);
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
