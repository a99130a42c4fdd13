/**
 * What controllers are written against. A handler reads:
 *
 *     @Get(':agentId') @Requires('agents:read') @Summary('Read an Agent.') @Answers(200, agentView.schema) @Reads('agents')
 *     async get(@CurrentCaller() caller: Caller, @Param('agentId') agentId: string, @Res({ passthrough: true }) reply: FastifyReply) {
 *       await this.access.agent(caller, agentId, 'use');
 *       const row = await this.queries.execute(new GetAgent(agentId));
 *       tagged(reply, row.revision);
 *       return agentView(row);
 *     }
 *
 *     @Put(':agentId') @Requires('agents:write') @Accepts(updateAgent) @Answers(200, agentView.schema) @Refuses('conflict')
 *     async update(@CurrentCaller() caller, @Param('agentId') agentId, @Body() body: unknown, @CommandContext() meta, @Res({ passthrough: true }) reply) {
 *       await this.access.agent(caller, agentId, 'edit');
 *       const receipt = await this.commands.execute(new UpdateAgent(agentId, input(updateAgent, body), meta));
 *       return written(reply, receipt, { views: ['agents'], show: async () => agentView(await this.queries.execute(new GetAgent(agentId))) });
 *     }
 *
 * A list takes `@Parameters(listQuery({ ...filters }))`, then `const asked = query(schema, raw)`,
 * `this.lists.page('agents', caller, asked)`, `findPage(store, view, { where, orderBy }, page)` of @app/read-store in its
 * query handler, and `this.lists.answer('agents', caller, asked, rows.map(({ row }) => agentView(row)), next)`.
 */
export { CommandContext, CurrentCaller } from './command-context';
export type { EdgeServices } from './edge-services';
export { envelopeOf, GatewayError } from './envelope';
export { errorRegistry, type ErrorCode } from './error-registry';
export { EventStream } from './event-stream';
export { flagText, input, instant, query, wholeNumberText } from './input';
export { InvalidInput } from './invalid-input';
export { JsonText } from './json-text';
export { listOf, listQuery, Lists } from './lists';
export { presenter, type Presenter } from './presenter';
export { Accepts, Answers, AnswersCsv, LARGE_JSON_LIMIT, Parameters, Reads, Refuses, Requires, Summary } from './route';
export { parts } from './uploads';
export { reached } from './view-waiter';
export { tagged, written, type Outcome } from './written';
