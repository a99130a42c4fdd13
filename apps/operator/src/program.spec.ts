import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { answers, asked, operator, run, url, withServer } from '../../../test/fixtures/operated';

withServer();

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

  it('names the re-index jobs that are not ended, and says how many more there are', async () => {
    const open = [
      {
        scope: 'agent',
        id: 'a1',
        state: 'running',
        startedAt: '2026-11-27T12:00:00.000Z',
        progress: { done: 3, total: 7 },
      },
      { scope: 'instance', id: null, state: 'failed', startedAt: '2026-11-27T12:00:00.000Z', progress: null },
    ];
    const none = { dependencies: {}, processes: [], policies: [], projections: [] };
    const reindex = { due: false, jobs: { running: 4, paused: 0, ready: 0, failed: 1 }, open };
    answers['GET /health'] = { body: { status: 'up', version: '1', ...none, reindex } };
    const { out } = await operator('status');
    expect(out).toContain('Re-index jobs: 4 running, 1 failed.');
    expect(out).toMatch(/RE-INDEX OF .*\nagent a1 +running +3 of 7 +2026.*\ninstance +failed +.*\nAnd 3 more\./);
  });

  it('says where the log was restored under the events that it follows, and prints no event for it', async () => {
    const event = { recordedAt: 'now', stream: 'agent-1', revision: 0, type: 'AgentCreated', meta: {}, data: {} };
    const body = `id: 1\nevent: event\ndata: ${JSON.stringify(event)}\n\nid: 2\nevent: restored\ndata: {}\n\n`;
    answers['GET /api/v1/audit/events?follow=true'] = { body, raw: true };
    const { out, err } = await operator('events', '--follow');
    expect(out).toContain('AgentCreated');
    expect(out).not.toContain('undefined');
    expect(err).toContain('The log was restored from an older backup');
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
    Object.assign(answers, {
      'GET /api/v1/audit/events?limit=50': none,
      'GET /api/v1/audit/objects/agent/1/history?limit=100': none,
      'GET /api/v1/operations/dead-letters?limit=100': none,
      'GET /api/v1/operations/projections': none,
      'GET /api/v1/operations/usage/restatements?limit=100': none,
    });
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
    (file) => file.endsWith('.ts') && !/\.(spec|long-spec)\.ts$/.test(file),
  );
  expect(
    sources.filter((file) => /require\('@(?:app|projections)/.test(readFileSync(join(__dirname, file), 'utf8'))),
  ).toEqual([]);
});
