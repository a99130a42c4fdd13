import { answers, asked, operator, run, url, withServer } from '../../../test/fixtures/operated';
import { Unreadable } from './exit-codes';
import { PlatformClient } from './platform-client';

withServer();

describe('what goes wrong', () => {
  it('is said in one line with the code and the request, in no words of HTTP', async () => {
    const { code, err } = await operator('swap', 'nothing');
    expect([code, err]).toEqual([1, 'Agent not found. (not_found, request r1)\n']);
  });

  it('shows of what others wrote whatever a terminal would obey', async () => {
    answers['GET /api/v1/operations/projections'] = {
      status: 409,
      body: { code: 'conflict', detail: 'a\u001b[2Kb\nc' },
    };
    const { err } = await operator('projections');
    expect(err).toBe(`${String.raw`a\u001b[2Kb`}\nc (conflict, request r1)\n`);
    const asJson = await operator('--json', 'projections', '--url', 'a\u009bb');
    expect(asJson.err).toBe(
      `${String.raw`{"error":{"code":"wrong_usage","message":"a\u009bb is not an address. Use --url http://HOST:PORT."}}`}\n`,
    );
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
    const rejected = await operator('projections');
    expect([rejected.code, rejected.err]).toEqual([1, expect.stringMatching(/rejected the API key.*PLATFORM_API_KEY/)]);
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

  it('is a file that is written to while it is sent, and no server that does not answer', async () => {
    // As fetch rejects where a file behind a Blob has changed.
    const cause = new DOMException('The blob could not be read', 'NotReadableError');
    const failing = jest.spyOn(globalThis, 'fetch').mockRejectedValue(new TypeError('fetch failed', { cause }));
    try {
      await expect(new PlatformClient(url, 'secret').json('/sent')).rejects.toThrow(
        new Unreadable('The file was written to while it was sent. Send it again.'),
      );
    } finally {
      failing.mockRestore();
    }
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
