import { idOf, isDomainError, isUnavailable, type Receipt } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { JsonText } from './json-text';
import { reached, VIEW_WAITER, type ViewWaiter } from './view-waiter';

/** How a write answers. */
export interface Outcome {
  /** Views that must show the write before it answers. */
  readonly views: readonly string[];
  /** Reads the item back; absent where nothing is shown. */
  readonly show?: () => Promise<JsonText | undefined>;
  /** Path of what was created. */
  readonly location?: string;
  /** The data key under which the answer is kept for a repeat, asked for once it is shown; that of the stream by default. */
  readonly keptWith?: () => string;
  /** Members that are shown in this answer only, never in a repeat: secrets. */
  readonly once?: Readonly<Record<string, string>>;
}

/** How a write to several streams answers. */
export interface OutcomeTogether {
  readonly views: readonly string[];
  /** The data key under which the answer is kept for a repeat. */
  readonly keptWith: string;
  /** Others without which it is not given again either. */
  readonly madeFrom?: readonly string[];
  readonly json: JsonText;
  /** What a repeat is given in place of `json`; null: it runs again. */
  readonly kept?: JsonText | null;
}

/** Answers writes, once they can be read. */
@Injectable()
export class Writes {
  constructor(@Inject(VIEW_WAITER) private readonly views: ViewWaiter) {}

  /**
   * Answers a write. Waits up to 2 s until the views show it, and sets `etag`, `x-log-position`, `location` and, if a
   * view is late or away, `x-view-late`. Answers what `show` reads, or the id and revision of the resource if that is
   * not there yet.
   */
  async answer(reply: FastifyReply, receipt: Receipt, outcome: Outcome): Promise<JsonText | undefined> {
    const inTime = (await unlessUnavailable(() => reached(this.views, outcome.views, receipt.position))) === true;
    reply.header('etag', `"${receipt.revision}"`).header('x-log-position', receipt.position);
    if (outcome.location !== undefined) reply.header('location', outcome.location);
    const { show } = outcome;
    const found = show === undefined ? undefined : await unlessUnavailable(() => shown(show, inTime));
    if (!inTime || found === UNAVAILABLE) reply.header('x-view-late', 'true');
    const json = show === undefined ? undefined : found === undefined || found === UNAVAILABLE ? bare(receipt) : found;
    const { acceptance } = reply.request;
    if (acceptance !== null)
      acceptance.answered = { keyName: outcome.keptWith?.() ?? receipt.stream, body: json?.text ?? null };
    return outcome.once === undefined ? json : json?.with(outcome.once);
  }

  /** Answers a write to several streams: as `answer`, without `etag`. */
  async answerTogether(
    reply: FastifyReply,
    receipts: readonly Receipt[],
    { views, keptWith, madeFrom, json, kept = json }: OutcomeTogether,
  ): Promise<JsonText> {
    const last = receipts
      .map(({ position }) => position)
      .toSorted()
      .at(-1);
    if (last !== undefined) {
      if ((await unlessUnavailable(() => reached(this.views, views, last))) !== true)
        reply.header('x-view-late', 'true');
      reply.header('x-log-position', last);
    }
    const { acceptance } = reply.request;
    if (acceptance !== null && kept !== null)
      acceptance.answered = { keyName: keptWith, ...(madeFrom && { madeFrom }), body: kept.text };
    return json;
  }
}

const UNAVAILABLE = Symbol('unavailable');

/** The write has happened: whoever were told that it may not have would send it again. */
const unlessUnavailable = async <T>(asked: () => Promise<T>): Promise<T | typeof UNAVAILABLE> => {
  try {
    return await asked();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    return UNAVAILABLE;
  }
};

/** What a view that is late does not show yet is not there for whoever reads it back. */
const shown = async (show: () => Promise<JsonText | undefined>, inTime: boolean): Promise<JsonText | undefined> => {
  try {
    return await show();
  } catch (error) {
    if (inTime || !isDomainError(error, 'not_found')) throw error;
    return undefined;
  }
};

const bare = (receipt: Receipt): JsonText =>
  new JsonText(JSON.stringify({ id: idOf(receipt.stream), revision: receipt.revision }));
