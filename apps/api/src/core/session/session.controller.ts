import { Authenticator, type Caller, keyCredential } from '@app/access';
import {
  Answers,
  BodyInput,
  CommandContext,
  CurrentCaller,
  Documented,
  type Input,
  isOverTls,
  JsonText,
  noSessionCookie,
  RateLimiter,
  Reads,
  Rejects,
  Requires,
  sessionCookie,
  Writes,
  CommandMetas,
} from '@app/http';
import { EndSession, StartSession } from '@app/identity';
import { type CommandMeta, CONFIG, type Config, reject } from '@app/kernel';
import { Controller, Delete, Get, Inject, Post, Res } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { ApiHeader, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { sessionView, signIn } from './session-schemas';

const PATH = '/api/v1/session';

/** Signing in. A session has the rights of the API key that it was started with, as they are at each request, and ends with it. */
@Documented('Session')
@Controller(PATH)
export class SessionController {
  constructor(
    private readonly commands: CommandBus,
    private readonly authenticator: Authenticator,
    private readonly limiter: RateLimiter,
    @Inject(CONFIG) private readonly config: Config,
    private readonly writes: Writes,
    private readonly metas: CommandMetas,
  ) {}

  @Post()
  @Requires('public')
  @ApiOperation({
    operationId: 'startSession',
    summary:
      'Signs in with an API key. The answer sets the cookie `ap_session`, which replaces the key in requests from pages of the same origin.',
  })
  @ApiHeader({ name: 'Origin', description: 'Sent by browsers. Must be the origin of this server.' })
  @Answers(201, sessionView.schema)
  @Rejects('unauthenticated', 'forbidden', 'rate_limited')
  async start(@BodyInput(signIn) body: Input<typeof signIn>, @Res({ passthrough: true }) reply: FastifyReply) {
    const { request } = reply;
    await this.limiter.takeOfAddress(request.ip);
    const { apiKey } = body.parse();
    const wrong = () => reject('unauthenticated', { reason: 'wrong_sign_in' });
    request.caller = (await this.authenticator.authenticate(keyCredential(apiKey))) ?? wrong();
    const { userId, keyId = wrong() } = request.caller;
    const started = await this.commands.execute(new StartSession({ userId, keyId }, this.metas.of(request)));
    const { secret, expiresAt, receipt } = started;
    reply.header('set-cookie', sessionCookie(secret, new Date(expiresAt), this.isSecure(reply)));
    return this.writes.answer(reply, receipt, {
      views: [],
      location: PATH,
      show: async () => sessionView({ userId, expiresAt }),
    });
  }

  @Get()
  @Requires('authenticated')
  @ApiOperation({ operationId: 'getSession', summary: 'Reads the session of the cookie `ap_session`.' })
  @Answers(200, sessionView.schema)
  @Rejects('not_found')
  @Reads()
  read(@CurrentCaller() caller: Caller): JsonText {
    return sessionView({ userId: caller.userId, expiresAt: sessionOf(caller).expiresAt });
  }

  @Delete()
  @Requires('authenticated')
  @ApiOperation({ operationId: 'endSession', summary: 'Signs out. The cookie is rejected from the next request on.' })
  @Answers(204)
  @Rejects('not_found')
  async end(
    @CurrentCaller() caller: Caller,
    @CommandContext() meta: CommandMeta,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const receipt = await this.commands.execute(new EndSession(sessionOf(caller).id, meta));
    reply.header('set-cookie', noSessionCookie(this.isSecure(reply)));
    return this.writes.answer(reply, receipt, { views: [] });
  }

  private isSecure({ request }: FastifyReply): boolean {
    return isOverTls(request.headers, this.config.BASE_URL);
  }
}

/** Rejects `not_found` for whoever came with an API key. */
const sessionOf = ({ session, keyId = '' }: Caller) => session ?? reject('not_found', { kind: 'sessionOf', id: keyId });
