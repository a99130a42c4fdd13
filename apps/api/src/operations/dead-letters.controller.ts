import { operatorActions } from '@app/auditing';
import { type CommandMeta, Decisions } from '@app/kernel';
import { type DeadLetter, Policies, Projecting } from '@app/projecting';
import type { Caller } from '@app/access';
import {
  Answers,
  CommandContext,
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
  Requires,
} from '@app/http';
import { Controller, Get, Param, Post } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { deadLetterView, solvedSchema } from './operations-schemas';

const LIST = 'dead-letters';
const lettersQuery = listQuery({});

interface Solved {
  readonly left: DeadLetter | null;
}

@Documented('Operations')
@Controller('api/v1/operations/dead-letters')
export class DeadLettersController {
  constructor(
    private readonly projecting: Projecting,
    private readonly policies: Policies,
    private readonly decisions: Decisions,
    private readonly lists: Lists,
  ) {}

  @Get()
  @Requires('operations')
  @ApiOperation({
    operationId: 'listDeadLetters',
    summary: 'Lists events that a view or policy could not handle, oldest first.',
  })
  @Answers(200, listOf(deadLetterView.schema))
  @Reads()
  async list(
    @QueryInput(lettersQuery) query: Input<typeof lettersQuery>,
    @CurrentCaller() caller: Caller,
  ): Promise<JsonText> {
    const asked = query.parse();
    const { limit, after } = this.lists.page(LIST, caller, asked);
    const letters = (await Promise.all([this.projecting.deadLetters(), this.policies.deadLetters()]))
      .flat()
      .toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
    const behind = after === undefined ? letters : letters.filter((letter) => place(letter) > after.key);
    const { items, next } = pageOf(behind, limit, (letter) => ({ values: [], key: place(letter) }));
    return this.lists.answer(
      LIST,
      caller,
      asked,
      items.map((letter) => deadLetterView(letter)),
      next,
    );
  }

  @Get(':id')
  @Requires('operations')
  @ApiOperation({
    operationId: 'getDeadLetter',
    summary: 'Reads a dead letter: where the event is and why it failed, without content.',
  })
  @Answers(200, deadLetterView.schema)
  @Reads()
  async one(@Param('id') id: string): Promise<DeadLetter> {
    return (await this.holding(id)).deadLetter(id);
  }

  @Post(':id/retry')
  @Requires('operations')
  @ApiOperation({
    operationId: 'retryDeadLetter',
    summary: 'Retries a dead letter: handles its event again, then those that wait behind it.',
  })
  @Answers(200, solvedSchema)
  retry(@Param('id') id: string, @CommandContext() meta: CommandMeta): Promise<Solved> {
    return this.solve('DeadLetterRetryRequested', id, meta, (holder) => holder.retryDeadLetter(id));
  }

  @Post(':id/discard')
  @Requires('operations')
  @ApiOperation({
    operationId: 'discardDeadLetter',
    summary:
      'Discards a dead letter: skips its event permanently, also in rebuilds, and handles those that wait behind it.',
  })
  @Answers(200, solvedSchema)
  discard(@Param('id') id: string, @CommandContext() meta: CommandMeta): Promise<Solved> {
    return this.solve('DeadLetterDiscardRequested', id, meta, (holder) => holder.discardDeadLetter(id));
  }

  private async solve(
    type: 'DeadLetterRetryRequested' | 'DeadLetterDiscardRequested',
    id: string,
    meta: CommandMeta,
    action: (holder: Projecting | Policies) => Promise<DeadLetter | undefined>,
  ): Promise<Solved> {
    const holder = await this.holding(id);
    const { name, eventId, stream, position } = await holder.deadLetter(id);
    await this.decisions.transact(
      operatorActions,
      name,
      { type, data: { deadLetterId: id, eventId, stream, position } },
      meta,
    );
    return { left: (await action(holder)) ?? null };
  }

  /** Whoever could not handle the event; an unknown one is rejected by what is asked next. */
  private async holding(id: string): Promise<Projecting | Policies> {
    return (await this.projecting.deadLetters()).some((letter) => letter.id === id) ? this.projecting : this.policies;
  }
}

/** Orders letters by the place of their event; one event may fail in several views. */
const place = ({ position, id }: DeadLetter): string => `${position}/${id}`;
