import type { ReadReq } from '@eventstore/db-client/generated/streams_pb';
import type { Recorded } from './recorded-event';

/** Events that a reader wants, and how often it is told where it stands while none come. */
export interface Filter {
  readonly accepts: (event: Recorded) => boolean;
  /** Events that the server looks at in one go. */
  readonly window: number;
  /** Events considered between two checkpoints. */
  readonly checkpointInterval: number;
}

/** The server's own page, which stands for the window where a client names none. */
const DEFAULT_WINDOW = 32;

export const filterOf = (options: ReadReq.Options): Filter | undefined => {
  const filter = options.getFilter();
  if (filter === undefined) return undefined;
  const window = filter.hasMax() ? filter.getMax() : DEFAULT_WINDOW;
  const onStream = filter.getStreamIdentifier();
  const expression = onStream ?? filter.getEventType();
  const prefixes = expression?.getPrefixList() ?? [];
  const regex = new RegExp(expression?.getRegex() ?? '', 'u');
  const matches =
    prefixes.length > 0
      ? (text: string) => prefixes.some((prefix) => text.startsWith(prefix))
      : (text: string) => regex.test(text);
  return {
    accepts: onStream === undefined ? ({ type }) => matches(type) : ({ stream }) => matches(stream),
    window,
    checkpointInterval: window * Math.max(1, filter.getCheckpointintervalmultiplier()),
  };
};
