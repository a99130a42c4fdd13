import { type ArgumentsHost, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { TestingModuleBuilder } from '@nestjs/testing';
import type { FastifyReply, FastifyRequest } from 'fastify';
import pino from 'pino';
import { type Call, calls, serveThings, set, state } from '../../../test/fixtures/edge-of-things';
import { AccessGuard } from './access-guard';
import { BodyGuard } from './body-guard';
import { IdempotencyInterceptor } from './idempotency-interceptor';
import { ProblemFilter } from './problem-filter';
import { VIEW_WAITER } from './view-waiter';

/** One request to things whose testing module puts something in the place of a part of the edge. */
const answerWith = async (change: (builder: TestingModuleBuilder) => TestingModuleBuilder, ...given: Call[]) => {
  const things = await serveThings(pino({ level: 'silent' }), change);
  try {
    const answers = [];
    for (const each of given) answers.push(await things.call(each));
    return answers;
  } finally {
    await things.close();
  }
};

beforeEach(() => {
  calls.length = 0;
  state.clear();
  set.late = false;
});

/** A guard that notes that it was asked. */
const noting = (asked: string[], name: string, answer = true): CanActivate => ({
  canActivate: (context: ExecutionContext) => {
    asked.push(`${name} of ${context.getClass().name}`);
    return answer;
  },
});

const post: Call = { method: 'POST', url: '/things', body: { name: 'a' }, headers: { 'idempotency-key': 'k' } };

describe('a testing module', () => {
  it('puts another guard in the place of the one that checks access', async () => {
    const asked: string[] = [];
    const [answer] = await answerWith(
      (builder) => builder.overrideProvider(AccessGuard).useValue(noting(asked, 'access')),
      { key: '' },
    );
    expect([answer?.status, answer?.body, asked]).toEqual([
      200,
      { id: 'known', name: 'n' },
      ['access of ThingController'],
    ]);
  });

  it('sees access checked before the body is read, and no body read where it is not granted', async () => {
    const asked: string[] = [];
    const guards = (mayEnter: boolean) => (builder: TestingModuleBuilder) =>
      builder
        .overrideProvider(BodyGuard)
        .useValue(noting(asked, 'body', false))
        .overrideProvider(AccessGuard)
        .useValue(noting(asked, 'access', mayEnter));
    await answerWith(guards(false), post);
    expect(asked.splice(0)).toEqual(['access of ThingController']);
    await answerWith(guards(true), post);
    expect(asked).toEqual(['access of ThingController', 'body of ThingController']);
  });

  it('puts another filter in the place of the one that formats errors', async () => {
    const plain = {
      catch: (_error: unknown, host: ArgumentsHost) =>
        void host.switchToHttp().getResponse<FastifyReply>().code(418).send({ code: 'other' }),
    };
    const [answer] = await answerWith((builder) => builder.overrideProvider(ProblemFilter).useValue(plain), {
      key: '',
    });
    expect([answer?.status, answer?.body]).toEqual([418, { code: 'other' }]);
  });

  it('puts another interceptor in the place of the one that repeats answers', async () => {
    const statuses = async (change: (builder: TestingModuleBuilder) => TestingModuleBuilder) =>
      (await answerWith(change, post, post)).map(({ status }) => status);
    expect([await statuses((builder) => builder), calls.splice(0).length]).toEqual([[201, 201], 1]);
    const passing = { intercept: (_context: unknown, next: { handle(): unknown }) => next.handle() };
    state.clear();
    const none = (builder: TestingModuleBuilder) =>
      builder.overrideInterceptor(IdempotencyInterceptor).useValue(passing);
    expect([await statuses(none), calls.length]).toEqual([[201, 201], 2]);
  });

  it('puts other views in the place of those that writes and reads wait for', async () => {
    const waited: string[] = [];
    const views = { waitFor: async (view: string, position: string) => waited.push(`${view} ${position}`) > 0 };
    await answerWith((builder) => builder.overrideProvider(VIEW_WAITER).useValue(views), post, {
      headers: { 'x-read-after': '0000000000000009' },
    });
    expect(waited).toEqual(['things 7', 'things 0000000000000009']);
  });
});

it('nothing of the edge hangs on the server: what it needs is injected', async () => {
  const servers: object[] = [];
  const looking: CanActivate = {
    canActivate: (context) => servers.push(context.switchToHttp().getRequest<FastifyRequest>().server) > 0,
  };
  await answerWith((builder) => builder.overrideProvider(AccessGuard).useValue(looking), {});
  expect(servers.map((server) => 'edge' in server)).toEqual([false]);
});
