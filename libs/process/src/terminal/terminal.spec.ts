import { PassThrough } from 'node:stream';
import { makeLogger } from '@app/http';
import { logDestination } from './log-destination';
import { keyNotice, startNotice } from './notices';

/** What a logger writes where its output is a terminal. */
const written = (log: (logger: ReturnType<typeof makeLogger>) => void, colors = false): string => {
  const terminal = Object.assign(new PassThrough(), { isTTY: true, hasColors: () => colors });
  log(makeLogger('info', logDestination(terminal)));
  return String(terminal.read() ?? '');
};

describe('the log on a terminal', () => {
  it('is for people: a time of day, a level, and what a request was', () => {
    const text = written((logger) =>
      logger.info(
        {
          requestId: 'r1',
          method: 'POST',
          route: '/api/v1/core/agents',
          status: 201,
          milliseconds: 4.2,
          actor: 'key:1',
        },
        'request',
      ),
    );
    expect(text).toMatch(
      /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: POST \/api\/v1\/core\/agents 201 in 4\.2 ms \{"requestId":"r1","actor":"key:1"\}\n$/,
    );
  });

  it('says where something failed, without what people entered', () => {
    const text = written((logger) =>
      logger.error(
        { route: '/api/v1/core/agents', code: 'internal', error: new TypeError('the secret is xyzzy') },
        'Request failed.',
      ),
    );
    expect(text).toContain('ERROR: Request failed (/api/v1/core/agents)');
    expect(text).toContain('TypeError');
    expect(text).not.toContain('xyzzy');
  });

  it('has colours where the terminal has them', () => {
    const warn = (logger: ReturnType<typeof makeLogger>) => logger.warn('no colour');
    expect([written(warn).includes('\u001b['), written(warn, true).includes('\u001b[')]).toEqual([false, true]);
  });
});

describe('what a start prints', () => {
  const started = { version: '1.5.0', url: 'http://127.0.0.1:3000', runs: undefined, dataDir: '/data' };

  it('has the first key in a box of its own, as wide as the key', () => {
    const lines = keyNotice('ap_secret', true).trim().split('\n');
    expect(lines[0]).toMatch(/^┌─+┐$/);
    expect(lines.at(-1)).toMatch(/^└─+┘$/);
    expect(new Set(lines.map(({ length }) => length)).size).toBe(1);
    expect(lines.map((line) => line.replace(/^│ +| +│$/g, ''))).toEqual(
      expect.arrayContaining(['ap_secret', 'export KEY=ap_secret']),
    );
  });

  it('names addresses that can be clicked', () => {
    const links = startNotice(started, true).match(/http:\S+/g);
    expect(links).toEqual([
      'http://127.0.0.1:3000/api/v1',
      'http://127.0.0.1:3000/api/compat/v1',
      'http://127.0.0.1:3000/docs',
    ]);
    expect(startNotice({ ...started, url: 'https://example.com/' }, true)).toContain(' https://example.com/docs\n');
    expect(startNotice({ ...started, runs: 'worker' }, true)).not.toContain('/docs');
  });

  it('is a line each where nobody looks', () => {
    expect(keyNotice('ap_secret', false)).toBe('API key of the first admin, shown only once: ap_secret\n');
    expect(startNotice(started, false)).toBe(
      'Agent Platform 1.5.0 at http://127.0.0.1:3000 (documentation: http://127.0.0.1:3000/docs, data: /data)\n',
    );
  });
});
