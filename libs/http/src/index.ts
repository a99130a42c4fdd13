/**
 * What controllers are written against. A handler reads:
 *
 *     @Get(':agentId') @Requires('agents:read') @ApiOperation({ operationId: 'getAgent', summary: 'Reads an Agent.' })
 *     @Answers(200, agentView.schema) @Reads('agents')
 *     async get(@CurrentCaller() caller: Caller, @Param('agentId') agentId: string): Promise<Tagged> {
 *       await this.access.agent(caller, agentId, 'use');
 *       const row = await this.queries.execute(new GetAgent(agentId));
 *       return tagged(agentView(row), row.revision);
 *     }
 *
 *     @Put(':agentId') @Requires('agents:write') @ApiOperation({ operationId: 'updateAgent', summary: 'Changes an Agent.' })
 *     @Answers(200, agentView.schema) @Rejects('conflict')
 *     async update(@CurrentCaller() caller, @Param('agentId') agentId, @BodyInput(updateAgent) body: Input<typeof updateAgent>, @CommandContext() meta, @Res({ passthrough: true }) reply) {
 *       await this.access.agent(caller, agentId, 'edit');
 *       const receipt = await this.commands.execute(new UpdateAgent(agentId, body.parse(), meta));
 *       return this.writes.answer(reply, receipt, { views: ['agents'], show: async () => agentView(await this.queries.execute(new GetAgent(agentId))) });
 *     }
 *
 * A write takes the reply, because its headers say what the views show by then. The handler parses its input once it has asked for the target. A list takes `@QueryInput(schema) query: Input<typeof schema>`
 * with `schema = listQuery({ ...filters })`, then `const asked = query.parse()`,
 * `this.lists.page('agents', caller, asked)`, `findPage(store, view, { where, orderBy }, page)` of @app/read-store in its
 * query handler, and `this.lists.answer('agents', caller, asked, rows.map(({ row }) => agentView(row)), next)`.
 */
export { Documented } from './openapi/documented';
export { asFile } from './as-file';
export { CommandContext, CommandMetas, CurrentCaller } from './command-context';
export { envelopeOf, GatewayError } from './envelope';
export { errorRegistry } from './error-registry';
export { EventStream } from './event-stream';
export { exposed } from './exposed';
export { ForwardingInterceptor } from './forwarding-interceptor';
export { HttpModule } from './http.module';
export { Idempotency } from './idempotency';
export {
  BodyInput,
  flagText,
  type Input,
  input,
  instant,
  QueryInput,
  rejecting,
  UncheckedBody,
  wholeNumberText,
} from './input';
export { InvalidInput } from './invalid-input';
export { JsonText, type Tagged, tagged } from './json-text';
export { jsonValue } from './json-value';
export { SlowBodies } from './slow-bodies';
export { streamId, streamIdAt } from './stream-id';
export { knownPosition, noPosition, type ResumePoint, resumePoint } from './known-position';
export { interceptorsOf, pathOf } from './nest-metadata';
export { listOf, listQuery, Lists, pageOf } from './lists';
export { type MultipartBody, onlyFile, withFile, withFiles } from './multipart-body';
export { makeLogger } from './logging';
export { codesOf } from './openapi/error-responses';
export { openApiDocument } from './openapi/openapi';
export { wildcardOf } from './openapi/path-parameters';
export { OpenRequests } from './open-requests';
export { OpenStreams } from './open-streams';
export { LATE_MS } from './overload';
export { presenter, type Presenter } from './presenter';
export { problemOf } from './problem';
export { RateLimiter } from './rate-limiter';
export { Accepts, AcceptsFiles, Answers, AnswersAs, LARGE_JSON_LIMIT, Reads, Rejects, Requires } from './route';
export { RouteTable, type ServedRoute } from './route-table';
export { type CreateApplication, serve } from './serve';
export { type Place, TransientRequests } from './transient-requests';
export { Uploads } from './uploads';
export { reached, VIEW_WAIT_MS, VIEW_WAITER, type ViewWaiter } from './view-waiter';
export { isOverTls } from './same-origin';
export { turnsEnd } from './turns-end';
export { noSessionCookie, sessionCookie } from './session-cookie';
export { type OutcomeTogether, Writes } from './written';
