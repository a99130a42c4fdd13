import type { Caller } from '@app/access';
import { AUDIT_TRAIL, SealFinder } from '@app/auditing';
import { EVENT_LOG, type EventLog } from '@app/event-log';
import { refuse } from '@app/kernel';
import { headOf, leafHash, merklePath, SEAL_STREAM, type SealKey, sealedEvents, sealOf } from '@app/sealing';
import { Controller, Get, Inject, Param, Query } from '@nestjs/common';
import { z } from 'zod';
import { Answers, CurrentCaller, JsonText, listOf, Lists, listQuery, Parameters, query, Reads, Refuses, Requires, Summary, wholeNumberText } from '../http';
import { proofSchema, sealKeySchema, sealSchema } from './audit-schemas';

/** Injection token of the key that signs seals. */
export const SEAL_KEY = Symbol('SealKey');

const LIST = 'seals';
const sealsQuery = listQuery({ after: wholeNumberText(0, Number.MAX_SAFE_INTEGER).optional() });

@Controller('api/v1/audit')
export class AuditSealsController {
  constructor(
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(SEAL_KEY) private readonly key: SealKey,
    private readonly finder: SealFinder,
    private readonly lists: Lists,
  ) {}

  @Get('seals')
  @Requires('audit:read')
  @Summary('The seals over the log, oldest first; `after` is an ordinal')
  @Parameters(sealsQuery)
  @Answers(200, listOf(sealSchema))
  async seals(@Query() raw: unknown, @CurrentCaller() caller: Caller): Promise<JsonText> {
    const asked = query(sealsQuery, raw);
    const { limit, after } = this.lists.page(LIST, caller, asked);
    const from = after === undefined ? await this.firstBehind(asked.after ?? 0) : Number(after.key);
    const events = await this.log.readStream(SEAL_STREAM, { from, limit: limit + 1 });
    const items = events.slice(0, limit).map((event) => new JsonText(JSON.stringify(headOf(sealOf(event)))));
    return this.lists.answer(LIST, caller, asked, items, events.length > limit ? { values: [], key: String(from + limit) } : null);
  }

  @Get('seals/key')
  @Requires('audit:read')
  @Summary('The public key that checks the signatures of the seals')
  @Answers(200, sealKeySchema)
  sealKey(): z.output<typeof sealKeySchema> {
    return { keyId: this.key.keyId, algorithm: 'Ed25519', publicKey: this.key.publicKey };
  }

  @Get('proof/:eventId')
  @Requires('audit:read')
  @Summary('The seal over an event and the path from the event to its root')
  @Reads(AUDIT_TRAIL)
  @Answers(200, proofSchema)
  @Refuses('not_found')
  async proof(@Param('eventId') eventId: string): Promise<z.output<typeof proofSchema>> {
    const { seal, index } = (await this.finder.findById(eventId)) ?? refuse('not_found');
    const events = sealedEvents(seal);
    const path = merklePath(events.map(leafHash), index).map((hash) => hash.toString('hex'));
    const event = events[index] ?? refuse('not_found');
    return { event: { ...event, ordinal: seal.fromOrdinal + index }, index, size: events.length, path, seal: headOf(seal) };
  }

  /** Revision of the first seal whose events all lie behind an ordinal, by bisection: seals stand in the order of ordinals. */
  private async firstBehind(ordinal: number): Promise<number> {
    let [low, high] = [0, ((await this.log.readStream(SEAL_STREAM, { direction: 'backwards', limit: 1 }))[0]?.revision ?? -1) + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const [event] = await this.log.readStream(SEAL_STREAM, { from: middle, limit: 1 });
      if (event !== undefined && sealOf(event).fromOrdinal <= ordinal) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
