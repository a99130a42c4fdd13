import type { Caller } from '@app/access';
import { contentLooks } from '@app/auditing';
import { type CommandMeta, Decisions } from '@app/kernel';
import { Injectable } from '@nestjs/common';

/** Puts on record that somebody is shown content, before it is shown. */
@Injectable()
export class ContentRegister {
  constructor(private readonly decisions: Decisions) {}

  /** `asked` says what for: filters, or the kind and id of an object. Throws when it cannot be recorded: then nothing may be shown. */
  async record(
    caller: Caller,
    asked: Readonly<Record<string, unknown>>,
    events: readonly { readonly position: string }[],
    meta: CommandMeta,
  ): Promise<void> {
    const given = Object.entries(asked).filter(([, value]) => value !== undefined);
    const look = {
      asked: Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
      events: events.length,
      first: events.at(0)?.position ?? null,
      last: events.at(-1)?.position ?? null,
    };
    await this.decisions.transact(contentLooks, caller.userId, look, meta);
  }
}
