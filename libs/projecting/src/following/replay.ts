import type { EventLog } from '@app/event-log';
import type { Position, StoredEvent } from '@app/kernel';
import { type DeadLetter, describeError, isTransient, movedTo, PoisonEvent } from '../dead-letter';
import type { PageWriter } from './page-writer';

const FLOWING: ReadonlyMap<string, DeadLetter> = new Map();

/**
 * Handles the events of a stream that wait for a dead letter, in order, up to the position of the view. All of them
 * take one commit, or one each if that fails. After each, the dead letter moves to the next event, so a crash or
 * another failure leaves a true state. Resolves to the dead letter that is left.
 */
export const replayStream = async (
  writer: PageWriter,
  log: EventLog,
  types: readonly string[],
  letter: DeadLetter,
  upTo: Position | null,
  discard: boolean,
): Promise<DeadLetter | undefined> => {
  const stream = await log.readStream(letter.stream, { from: letter.revision + (discard ? 1 : 0) });
  const waiting = stream.filter((event) => types.includes(event.type) && upTo !== null && event.position <= upTo);
  if (waiting.length !== 1 && (await handled(writer, waiting, upTo, letter.stream, null))) return undefined;
  for (const [index, event] of waiting.entries()) {
    const next = waiting[index + 1];
    const behind = next === undefined ? null : movedTo(letter, next);
    if (!(await handled(writer, [event], upTo, letter.stream, behind))) break;
  }
  return writer.letters.get(letter.stream);
};

/** True when all events were handled; a failure of the last one leaves it as the dead letter. */
const handled = async (
  writer: PageWriter,
  events: readonly StoredEvent[],
  upTo: Position | null,
  stream: string,
  after: DeadLetter | null,
): Promise<boolean> => {
  const page = await writer.fold(events, FLOWING);
  const failed = page.letters.get(stream);
  const settle = (left: DeadLetter | null, changes = page.changes): Promise<void> =>
    writer.commit({ handled: 0, changes, letters: new Map([[stream, left]]) }, upTo);
  if (failed !== undefined && events.length > 1) return false;
  if (failed !== undefined) {
    await settle(failed, []);
    return false;
  }
  try {
    await settle(after);
    return true;
  } catch (error) {
    const [first] = events;
    if (isTransient(error) || first === undefined) throw error;
    if (events.length === 1) await settle(writer.poisoned(new PoisonEvent(first, 'sink', describeError(error))), []);
    return false;
  }
};
