import type { Caller } from '@app/access';
import { AUDIT_TRAIL, positionOf } from '@app/auditing';
import {
  Answers,
  CurrentCaller,
  Documented,
  type Input,
  JsonText,
  listOf,
  listQuery,
  Lists,
  pageOf,
  QueryInput,
  Reads,
  Rejects,
  Requires,
  wholeNumberText,
} from '@app/http';
import { reject } from '@app/kernel';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { type Proof, proofOf, SEAL_KEY, SealArchive, SealedOrdinals, type SealKey } from '@app/sealing';
import { Controller, Get, Inject, Param, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { proofSchema, sealKeySchema, sealView } from './audit-schemas';
import { IndexWaiter } from './index-waiter';

const LIST = 'seals';
const sealsQuery = listQuery({
  after: wholeNumberText(0, Number.MAX_SAFE_INTEGER).optional().describe('Only seals after this ordinal.'),
});

@Documented('Audit')
@Controller('api/v1/audit')
export class AuditSealsController {
  constructor(
    @Inject(READ_STORE) private readonly views: ReadStore,
    @Inject(SEAL_KEY) private readonly key: SealKey,
    private readonly archive: SealArchive,
    private readonly ordinals: SealedOrdinals,
    private readonly index: IndexWaiter,
    private readonly lists: Lists,
  ) {}

  @Get('seals')
  @Requires('audit:read')
  @ApiOperation({
    operationId: 'listSeals',
    summary: 'Lists the seals over the log, oldest first. `after` is an ordinal.',
  })
  @Answers(200, listOf(sealView.schema))
  @Reads()
  async seals(
    @QueryInput(sealsQuery) query: Input<typeof sealsQuery>,
    @CurrentCaller() caller: Caller,
  ): Promise<JsonText> {
    const asked = query.parse();
    const { limit, after } = this.lists.page(LIST, caller, asked);
    const seals = await this.archive.after(after === undefined ? (asked.after ?? 0) : Number(after.key), limit + 1);
    const { items, next } = pageOf(seals, limit, ({ ordinal }) => ({ values: [], key: String(ordinal) }));
    return this.lists.answer(
      LIST,
      caller,
      asked,
      items.map((seal) => sealView(seal)),
      next,
    );
  }

  @Get('seals/key')
  @Requires('audit:read')
  @ApiOperation({
    operationId: 'getSealKey',
    summary: 'Reads the public key that verifies the signatures of the seals.',
  })
  @Answers(200, sealKeySchema)
  @Reads()
  sealKey(): z.output<typeof sealKeySchema> {
    return { keyId: this.key.keyId, algorithm: 'Ed25519', publicKey: this.key.publicKey };
  }

  @Get('proof/:eventId')
  @Requires('audit:read')
  @ApiOperation({
    operationId: 'getEventProof',
    summary: 'Reads the seal over an event, and the path from the event to its root.',
  })
  @Reads(AUDIT_TRAIL)
  @Answers(200, proofSchema)
  @Rejects('not_found')
  async proof(@Param('eventId') id: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<Proof> {
    await this.index.wait(AUDIT_TRAIL, reply);
    const position = (await positionOf(this.views, id)) ?? reject('not_found', { kind: 'event', id });
    const archived = (await this.ordinals.over({ id, position })) ?? reject('not_found', { kind: 'seal', id });
    return proofOf(archived, id) ?? reject('not_found', { kind: 'seal', id });
  }
}
