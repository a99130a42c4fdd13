import type { Caller } from '@app/access';
import { contentLooks } from '@app/auditing';
import { type CommandMeta, Decisions } from '@app/kernel';
import { Injectable } from '@nestjs/common';

/** How many events somebody is shown, and the positions of the first and the last, in the order shown; null where there are none. */
export interface ShownRange {
  readonly count: number;
  readonly first: string | null;
  readonly last: string | null;
}

export const shownRange = (events: readonly { readonly position: string }[]): ShownRange => ({
  count: events.length,
  first: events.at(0)?.position ?? null,
  last: events.at(-1)?.position ?? null,
});

/** Puts on record that somebody is shown content, before it is shown. */
@Injectable()
export class ContentRegister {
  constructor(private readonly decisions: Decisions) {}

  /** `asked` says what for: filters, or the kind and id of an object. Throws when it cannot be recorded: then nothing may be shown. */
  async record(
    caller: Caller,
    asked: Readonly<Record<string, unknown>>,
    events: ShownRange,
    meta: CommandMeta,
  ): Promise<void> {
    const given = Object.entries(asked).filter(([, value]) => value !== undefined);
    const look = {
      asked: Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
      events: events.count,
      first: events.first,
      last: events.last,
    };
    await this.decisions.transact(contentLooks, caller.userId, look, meta);
  }
}
