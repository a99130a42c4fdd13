import { readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { operate } from './program';

interface Request {
  readonly method: string;
  readonly url: string;
  readonly key: string | undefined;
  readonly body: unknown;
}

/** A server that answers what a test gives it, and keeps what it was asked. */
const asked: Request[] = [];
let answers: Record<string, { status?: number; body?: unknown; raw?: boolean }> = {};
let server: Server;
let url: string;

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? undefined : (JSON.parse(Buffer.concat(chunks).toString()) as unknown);
};

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    asked.push({
      method: request.method ?? '',
      url: request.url ?? '',
      key: request.headers['x-api-key']?.toString(),
      body,
    });
    const {
      status = 200,
      body: answer = {},
      raw = false,
    } = answers[`${request.method} ${request.url}`] ?? {
      status: 404,
      body: { code: 'not_found', detail: 'Agent not found.' },
    };
    response
      .writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'r1' })
      .end(raw ? String(answer) : JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  asked.length = 0;
  answers = {};
});

const run = async (words: readonly string[], terminal: object = {}) => {
  const out: string[] = [];
  const err: string[] = [];
  const code = await operate(words, {
    stdout: { write: (text: string) => out.push(text), ...terminal },
    stderr: { write: (text: string) => err.push(text) },
  });
  return { code, out: out.join(''), err: err.join('') };
};
const operator = (...words: readonly string[]) => run(['--url', url, '--api-key', 'secret', ...words]);

const users = {
  name: 'users',
  version: 1,
  state: 'live',
  position: '7',
  head: '7',
  lagEvents: 0,
  lagSeconds: 0,
  rows: 2,
  deadLetters: 0,
};
const equal = { equal: true, rows: 2, liveRows: 2, checksum: 'abc', differences: 0, listed: [] };
const rebuilt = (state: string, verification?: object) => ({
  ...users,
  rebuild: {
    version: 2,
    done: 4,
    total: 4,
    rate: 9,
    etaSeconds: 0,
    state,
    ...(verification === undefined ? {} : { verification }),
  },
});

describe('the command line', () => {
  it('shows the views as a table, or as JSON', async () => {
    answers['GET /api/v1/operations/projections'] = { body: { items: [users], nextCursor: null } };
    expect((await operator('projections')).out).toMatch(/^PROJECTION +VERSION +STATE.*\nusers +1 +live +2 +0/);
    expect(JSON.parse((await operator('projections', '--json')).out)).toEqual([users]);
    expect(asked[0]?.key).toBe('secret');
  });

  it('starts a rebuild and says so', async () => {
    answers['POST /api/v1/operations/projections/users/rebuild'] = { status: 202, body: rebuilt('building') };
    expect(await operator('rebuild', 'users')).toEqual({ code: 0, out: 'users: building version 2.\n', err: '' });
    expect(asked[0]?.body).toEqual({ swap: false });
  });

  it('watches a rebuild until it is served', async () => {
    answers['POST /api/v1/operations/projections/users/rebuild'] = { status: 202, body: rebuilt('building') };
    answers['GET /api/v1/operations/projections/users'] = { body: rebuilt('swapped', equal) };
    const { code, out, err } = await operator('rebuild', 'users', '--swap', '--watch');
    expect([code, asked[0]?.body]).toEqual([0, { swap: true }]);
    expect(out).toContain('version 2 is served');
    expect(err).toContain('[########################]  100 %  4/4');
  });

  it('ends with 3 when the rebuilt view differs, and lists how', async () => {
    answers['POST /api/v1/operations/projections/users/rebuild'] = { status: 202, body: rebuilt('building') };
    answers['GET /api/v1/operations/projections/users'] = {
      body: rebuilt('ready', {
        ...equal,
        equal: false,
        differences: 1,
        listed: [{ key: 'u7', difference: 'missing' }],
      }),
    };
    const { code, err } = await operator('rebuild', 'users', '--watch');
    expect([code, err]).toEqual([3, expect.stringContaining('missing  u7')]);
  });

  it('ends with 1 when a rebuild failed, and says at which event', async () => {
    answers['POST /api/v1/operations/projections/users/rebuild'] = { status: 202, body: rebuilt('building') };
    answers['GET /api/v1/operations/projections/users'] = {
      body: {
        ...users,
        rebuild: {
          ...rebuilt('failed').rebuild,
          failure: {
            eventId: 'e1',
            type: 'UserCreated',
            stream: 'user-1',
            revision: 0,
            reason: 'apply',
            detail: 'TypeError',
          },
        },
      },
    };
    const { code, err } = await operator('rebuild', 'users', '--watch');
    expect([code, err]).toEqual([1, expect.stringContaining('at event e1 (UserCreated, user-1@0)')]);
  });

  it.each([
    [['rebuild', 'pause', 'users'], 'rebuild/pause'],
    [['rebuild', 'resume', 'users'], 'rebuild/resume'],
    [['rebuild', 'cancel', 'users'], 'rebuild/cancel'],
    [['swap', 'users'], 'swap'],
    [['rollback', 'users'], 'rollback'],
    [['retire', 'users'], 'retire'],
  ])('%s asks for %s', async (words, path) => {
    answers[`POST /api/v1/operations/projections/users/${path}`] = { body: users };
    expect((await operator(...words)).code).toBe(0);
    expect(asked).toHaveLength(1);
  });

  it('ends with 3 while there are dead letters, and shows none of their content', async () => {
    answers['GET /api/v1/operations/dead-letters?limit=100'] = {
      body: {
        items: [
          {
            id: 'd1',
            source: 'projection',
            name: 'users',
            stream: 'user-1',
            revision: 0,
            type: 'UserCreated',
            reason: 'apply',
            detail: 'TypeError',
            attempts: 1,
            failedAt: '2026-01-01T00:00:00.000Z',
          },
        ],
        nextCursor: null,
      },
    };
    const { code, out } = await operator('dead-letters');
    expect([code, out]).toEqual([3, expect.stringMatching(/d1 +projection users +user-1@0 +UserCreated +apply/)]);
  });

  it('says after a retry whether the stream flows again', async () => {
    answers['POST /api/v1/operations/dead-letters/d1/retry'] = { body: { left: null } };
    expect(await operator('dead-letters', 'retry', 'd1')).toMatchObject({
      code: 0,
      out: 'Event handled. Its stream continues.\n',
    });
  });

  it('passes the filters of events on, and prints no more than asked for', async () => {
    const event = {
      position: '9',
      ordinal: 4,
      stream: 'agent-1',
      revision: 0,
      type: 'AgentCreated',
      data: {},
      meta: { actor: 'key:1' },
      recordedAt: '2026-01-01T00:00:00.000Z',
    };
    answers['GET /api/v1/audit/events?limit=2&type=AgentCreated&order=asc'] = {
      body: { items: [event, event], nextCursor: 'more' },
    };
    const { code, out } = await operator(
      'events',
      '--type',
      'AgentCreated',
      '--order',
      'asc',
      '--limit',
      '2',
      '--json',
    );
    expect([code, out.trim().split('\n').length]).toEqual([0, 2]);
  });

  it('takes a day wherever a time is taken', async () => {
    answers['GET /api/v1/audit/events?limit=50&from=2026-11-01T00%3A00%3A00Z&to=2026-11-02T00%3A00%3A00Z'] = {
      body: { items: [], nextCursor: null },
    };
    expect(await operator('events', '--from', '2026-11-01', '--to', '2026-11-02')).toEqual({
      code: 0,
      out: '(none)\n',
      err: '',
    });
    answers['GET /api/v1/audit/objects/agent/1?at=2026-11-01T00%3A00%3A00Z'] = { body: { id: '1' } };
    expect((await operator('as-of', 'agent', '1', '2026-11-01')).code).toBe(0);
    answers['GET /api/v1/audit/objects/agent/1?at=0000000000000007'] = { body: { id: '1' } };
    expect((await operator('as-of', 'agent', '1', '0000000000000007')).code).toBe(0);
  });

  it('says with one phrase that there is nothing', async () => {
    const none = { body: { items: [], nextCursor: null } };
    answers = {
      'GET /api/v1/audit/events?limit=50': none,
      'GET /api/v1/audit/objects/agent/1/history?limit=100': none,
      'GET /api/v1/operations/dead-letters?limit=100': none,
      'GET /api/v1/operations/projections': none,
      'GET /api/v1/operations/usage/restatements?limit=100': none,
    };
    for (const words of [
      ['events'],
      ['history', 'agent', '1'],
      ['dead-letters'],
      ['projections'],
      ['retire', '--all'],
      ['rebuild', '--all'],
      ['restate', 'list'],
    ])
      expect([words, (await operator(...words)).out]).toEqual([words, '(none)\n']);
    expect((await operator('events', '--json')).out).toBe('');
  });

  it('wraps what it shows at the width of the terminal', async () => {
    const policy = {
      name: 'erase-content',
      state: 'stopped',
      lagEvents: 3,
      lagSeconds: 1,
      deadLetters: 0,
      failure: {
        type: 'SpaceDeleted',
        attempts: 12,
        detail: 'the vault did not take the destruction of a key, which is tried again',
      },
    };
    answers['GET /health'] = {
      status: 503,
      body: {
        status: 'down',
        version: '1',
        dependencies: {
          log: {
            ok: false,
            reason:
              'the disk is full, and nothing can be written before there is space on it again, which an operator sees to',
          },
        },
        processes: [],
        policies: [policy],
        projections: [users],
      },
    };
    const words = ['--url', url, '--api-key', 'secret', 'status'];
    const { out } = await run(words, { isTTY: true, columns: 80 });
    expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
    for (const word of ['destruction', 'operator', 'SpaceDeleted']) expect(out).toContain(word);
    expect((await run(words)).out.split('\n').some((line) => line.length > 80)).toBe(true);
  });

  it('ends with 3 when the server says that it is down', async () => {
    answers['GET /health'] = {
      status: 503,
      body: {
        status: 'down',
        version: '1',
        dependencies: { log: { ok: false, reason: 'the disk is full' } },
        processes: [],
        policies: [],
        projections: [],
      },
    };
    const { code, out } = await operator('status');
    expect([code, out]).toEqual([3, expect.stringMatching(/log +down +the disk is full/)]);
  });
});

it('what is loaded when it is needed is named by its path: the build rewrites no other names', () => {
  const sources = readdirSync(__dirname, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'),
  );
  expect(
    sources.filter((file) => /require\('@(?:app|projections)/.test(readFileSync(join(__dirname, file), 'utf8'))),
  ).toEqual([]);
});

describe('what goes wrong', () => {
  it('is said in one line with the code and the request, in no words of HTTP', async () => {
    const { code, err } = await operator('swap', 'nothing');
    expect([code, err]).toEqual([1, 'Agent not found. (not_found, request r1)\n']);
  });

  it('is a document with --json, whatever it is', async () => {
    const failures = [
      await operator('--json', 'swap', 'nothing'),
      await operator('--json', 'no-such-verb'),
      await operator('--json', 'rebuild', 'users', '--all'),
      await operator('--json', 'projections', '--url', 'http://127.0.0.1:1'),
    ];
    expect(failures.map(({ out }) => out)).toEqual(['', '', '', '']);
    expect(
      failures.map(({ code, err }) => [code, (JSON.parse(err) as { error: { code: string; message: string } }).error]),
    ).toEqual([
      [1, { code: 'not_found', message: 'Agent not found. (not_found, request r1)' }],
      [2, { code: 'wrong_usage', message: expect.stringContaining('no-such-verb') as string }],
      [2, { code: 'wrong_usage', message: 'Name one view, or use --all.' }],
      [1, { code: 'failed', message: expect.stringContaining('does not answer') as string }],
    ]);
  });

  it('is a key that is missing, or that is not taken, with the variable that it is set by', async () => {
    const before = process.env['PLATFORM_API_KEY'];
    delete process.env['PLATFORM_API_KEY'];
    try {
      const { code, err } = await run(['--url', url, 'projections']);
      expect([code, err]).toEqual([2, 'Set an API key: PLATFORM_API_KEY, or --api-key KEY.\n']);
      expect(asked).toEqual([]);
    } finally {
      if (before !== undefined) process.env['PLATFORM_API_KEY'] = before;
    }
    answers['GET /api/v1/operations/projections'] = {
      status: 401,
      body: { code: 'unauthenticated', detail: 'Send a valid API key in the header x-api-key.' },
    };
    const refused = await operator('projections');
    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/rejected the API key.*PLATFORM_API_KEY/)]);
  });

  it.each([
    [200, 'no JSON'],
    [502, '<html>'],
    [404, '{}'],
  ])('is a server that is another: %d %s', async (status, body) => {
    answers['GET /api/v1/operations/projections'] = { status, body, raw: true };
    const { code, err } = await operator('projections');
    expect([code, err]).toEqual([1, expect.stringMatching(/is not an Agent Platform\..*--url or PLATFORM_URL\.\n$/)]);
  });

  it('is a server that does not answer', async () => {
    const { code, err } = await operator('projections', '--url', 'http://127.0.0.1:1');
    expect([code, err]).toEqual([1, expect.stringMatching(/^http:\/\/127\.0\.0\.1:1 does not answer/)]);
  });

  it.each([
    [['no-such-verb']],
    [['rebuild']],
    [['rebuild', 'users', '--all']],
    [['swap']],
    [['events', '--limit', '0']],
    [['events', '--order', 'sideways']],
    [['projections', '--colour']],
    [['as-of', 'agent', '1']],
    [['as-of', 'agent', '1', '2026-13-01']],
    [['events', '--from', 'yesterday']],
    [['events', '--to', '2026-11-31x']],
    [['verify', '--public-key', 'foo']],
    [['import', 'x', '--public-key', 'foo']],
    [['verify', 'x']],
    [['projections', '--url', 'not an address']],
    [['verify', '--since', 'yesterday']],
  ])('ends with 2 for the wrong usage %j', async (words) => {
    expect((await operator(...words)).code).toBe(2);
    expect(asked).toEqual([]);
  });

  it.each([[['--help']], [['rebuild', '--help']]])('ends with 0 after %j', async (words) => {
    const { code, out } = await operator(...words);
    expect([code, out]).toEqual([0, expect.stringContaining('Usage: operator')]);
  });

  it('lists exit codes, kinds and views in the help', async () => {
    const { out } = await operator('--help');
    for (const words of [
      '0 done, 1 failed, 2 wrong usage, 3 found something wrong',
      'agent, ',
      'Views: agent-versions, agents, ',
    ])
      expect(out).toContain(words);
    expect((await operator('history', '--help')).out).toMatch(/Kinds: .*document/);
    expect((await operator('swap', '--help')).out).toMatch(/Views: .*users/);
    expect((await operator('events', '--help')).out).toContain('2026-11-01');
  });

  it('says its version', async () =>
    expect(await operator('--version')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) as string,
    }));
});
