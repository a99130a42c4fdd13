import type { Caller } from '@app/access';
import { KeyGrants } from '@app/access';
import {
  Answers,
  BodyInput,
  CommandContext,
  CurrentCaller,
  Documented,
  type Input,
  InvalidInput,
  type JsonText,
  listOf,
  Lists,
  QueryInput,
  Reads,
  Rejects,
  Requires,
  type Tagged,
  tagged,
  Writes,
} from '@app/http';
import { UpdateApiKey, CreateApiKey, RevokeApiKey } from '@app/identity';
import { type CommandMeta, givenFields, reject } from '@app/kernel';
import { GetApiKey, ListApiKeys } from '@projections/api-keys';
import { Controller, Delete, Get, Param, Post, Put, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { apiKeyUpdate, apiKeysQuery, apiKeyView, createdApiKey, newApiKey } from './api-keys-schemas';

const PATH = '/api/v1/core/api-keys';
/** The limit of a key is shown among all limits, too. */
const VIEWS = ['api-keys', 'limits'];

@Documented('API keys')
@Controller(PATH)
export class ApiKeysController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly scope: KeyGrants,
    private readonly lists: Lists,
    private readonly writes: Writes,
  ) {}

  @Get()
  @Requires('keys:write')
  @ApiOperation({
    operationId: 'listApiKeys',
    summary: 'Lists your API keys, newest first. Admins can list those of other users.',
  })
  @Answers(200, listOf(apiKeyView.schema))
  @Reads('api-keys')
  async list(
    @CurrentCaller() caller: Caller,
    @QueryInput(apiKeysQuery) query: Input<typeof apiKeysQuery>,
  ): Promise<JsonText> {
    const asked = query.parse();
    const userId = whose(caller, asked.userId);
    const { rows, next } = await this.queries.execute(
      new ListApiKeys(userId, this.lists.page('api-keys', caller, asked)),
    );
    return this.lists.answer(
      'api-keys',
      caller,
      asked,
      rows.map(({ row }) => apiKeyView(row)),
      next,
    );
  }

  @Post()
  @Requires('keys:write')
  @ApiOperation({ operationId: 'createApiKey', summary: 'Creates an API key. Only this answer holds its secret.' })
  @Answers(201, createdApiKey)
  @Rejects('agent_not_granted', 'not_found')
  async create(
    @CurrentCaller() caller: Caller,
    @BodyInput(newApiKey) body: Input<typeof newApiKey>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { userId: asked, ...fields } = body.parse();
    if (fields.expiresAt !== null && Date.parse(fields.expiresAt) <= meta.now.getTime())
      throw new InvalidInput('invalid_body', [
        { path: 'expiresAt', code: 'in_the_past', message: 'Must be in the future.' },
      ]);
    const userId = whose(caller, asked);
    await this.scope.assert(caller, userId, fields);
    const { keyId, secret, receipt } = await this.commands.execute(new CreateApiKey(userId, fields, meta));
    return this.writes.answer(reply, receipt, {
      views: VIEWS,
      show: () => this.show(keyId),
      location: `${PATH}/${keyId}`,
      ...(secret === undefined ? {} : { once: { secret } }),
    });
  }

  @Get(':keyId')
  @Requires('keys:write')
  @ApiOperation({ operationId: 'getApiKey', summary: 'Reads an API key, without its secret.' })
  @Answers(200, apiKeyView.schema)
  @Reads('api-keys')
  async read(@CurrentCaller() caller: Caller, @Param('keyId') keyId: string): Promise<Tagged> {
    await this.scope.key(caller, keyId);
    const row = await this.queries.execute(new GetApiKey(keyId));
    return tagged(apiKeyView(row), row.revision);
  }

  @Put(':keyId')
  @Requires('keys:write')
  @ApiOperation({
    operationId: 'updateApiKey',
    summary: 'Updates an API key, except its secret. Absent fields do not change.',
  })
  @Answers(200, apiKeyView.schema)
  @Rejects('agent_not_granted')
  async update(
    @CurrentCaller() caller: Caller,
    @Param('keyId') keyId: string,
    @BodyInput(apiKeyUpdate) body: Input<typeof apiKeyUpdate>,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.scope.key(caller, keyId);
    const fields = givenFields(body.parse());
    const change = await this.scope.changing(caller, keyId, () => fields, fields.agentIds);
    return this.writes.answer(reply, await this.commands.execute(new UpdateApiKey(keyId, change, meta)), {
      views: VIEWS,
      show: () => this.show(keyId),
    });
  }

  @Delete(':keyId')
  @Requires('keys:write')
  @ApiOperation({
    operationId: 'deleteApiKey',
    summary: 'Revokes an API key. It is rejected from the next request on.',
  })
  @Answers(204)
  async revoke(
    @CurrentCaller() caller: Caller,
    @Param('keyId') keyId: string,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    await this.scope.key(caller, keyId);
    return this.writes.answer(reply, await this.commands.execute(new RevokeApiKey(keyId, meta)), { views: VIEWS });
  }

  private async show(keyId: string): Promise<JsonText> {
    return apiKeyView(await this.queries.execute(new GetApiKey(keyId)));
  }
}

/** Keys are one's own; admins reach those of others. */
const whose = (caller: Caller, userId: string | undefined): string =>
  userId === undefined || userId === caller.userId || caller.role === 'admin'
    ? (userId ?? caller.userId)
    : reject('forbidden', { path: 'userId' });
