import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isUnavailable } from '@app/kernel';
import { Client } from '@elastic/elasticsearch';
import { type RecordWrite, writeRecords } from './bulk-writer';
import { Server } from './server';

interface Answer {
  readonly status: number;
  readonly body: object;
}
type Item = Readonly<Record<string, unknown>>;

const SECRET = 'the text of a passage';
const items = (...given: readonly Item[]): Answer => ({
  status: 200,
  body: { errors: given.some((item) => JSON.stringify(item).includes('error')), items: given },
});
const done: Item = { index: { status: 201 } };
const failed = (status: number, type: string): Item => ({
  index: { status, error: { type, reason: `cannot take ${SECRET}` } },
});
const whole = (status: number, type: string): Answer => ({
  status,
  body: { status, error: { type, reason: `cannot take ${SECRET}` } },
});

/** A server that gives one answer after another, and the last one for ever; keeps what it was sent. */
const serving = async (...answers: readonly Answer[]) => {
  const received: string[][] = [];
  const http: HttpServer = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        const lines = Buffer.concat(chunks).toString().trimEnd().split('\n');
        received.push(
          lines
            .filter((line) => line.includes('"version"'))
            .map((line) => (Object.values(JSON.parse(line) as object)[0] as { _id: string })._id),
        );
        const { status, body } = answers[Math.min(received.length, answers.length) - 1] as Answer;
        response
          .writeHead(status, { 'content-type': 'application/json', 'x-elastic-product': 'Elasticsearch' })
          .end(JSON.stringify(body));
      });
  });
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  const server = new Server(
    new Client({ node: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, maxRetries: 0 }),
  );
  const close = async (): Promise<void> => {
    await server.close();
    http.closeAllConnections();
    await new Promise((resolve) => void http.close(resolve));
  };
  return { server, received, close };
};

const write = (id: string, given: Partial<RecordWrite> = {}): RecordWrite => ({
  id,
  position: '0000000000000042',
  record: { text: SECRET },
  ...given,
});

describe('records', () => {
  let closing: (() => Promise<void>) | undefined;
  afterEach(() => closing?.());
  const sent = async (writes: readonly RecordWrite[], retryMs: number, ...answers: readonly Answer[]) => {
    const { server, received, close } = await serving(...answers);
    closing = close;
    const outcome = await writeRecords(server, 'alias', writes, retryMs).then(
      () => 'written' as const,
      (error: unknown) => error as Error,
    );
    return { outcome, received };
  };

  it('that are older than what is there, or that delete nothing, are as they should be', async () => {
    const { outcome } = await sent(
      [write('a'), { id: 'b', position: '0000000000000042' }],
      0,
      items(failed(409, 'version_conflict_engine_exception'), { delete: { status: 404 } }),
    );
    expect(outcome).toBe('written');
  });

  it('that a full queue turned away are sent again, and only these', async () => {
    const busy = failed(429, 'es_rejected_execution_exception');
    const { outcome, received } = await sent(
      [write('a'), write('b'), write('c')],
      60_000,
      items(done, busy, busy),
      items(done, busy),
      items(done),
    );
    expect([outcome, received]).toEqual(['written', [['a', 'b', 'c'], ['b', 'c'], ['c']]]);
  });

  it.each([whole(429, 'circuit_breaking_exception'), whole(503, 'cluster_block_exception')])(
    'are sent again to a server that is busy as a whole',
    async (answer) => {
      const { outcome, received } = await sent([write('a')], 60_000, answer, items(done));
      expect([outcome, received]).toEqual(['written', [['a'], ['a']]]);
    },
  );

  it.each([
    ['as a whole', whole(429, 'circuit_breaking_exception')],
    ['record by record', items(failed(429, 'es_rejected_execution_exception'))],
    ['and read-only', items(failed(403, 'cluster_block_exception'))],
  ])('are unavailable with a server that stays busy: %s', async (_, answer) => {
    const { outcome } = await sent([write('a')], 100, answer);
    expect(isUnavailable(outcome)).toBe(true);
  });

  it('that the server will never take are rejected, without what it quotes', async () => {
    const { outcome } = await sent([write('a'), write('b')], 0, items(done, failed(400, 'document_parsing_exception')));
    expect([(outcome as Error).name, (outcome as Error).message]).toEqual([
      'Rejection',
      'Elasticsearch answered 400 document_parsing_exception',
    ]);
    expect(JSON.stringify(outcome, Object.getOwnPropertyNames(outcome))).not.toContain(SECRET);
  });

  it('to an index that was dropped are rejected: none is made in its place', async () => {
    const { outcome } = await sent([write('a')], 0, items(failed(404, 'index_not_found_exception')));
    expect((outcome as Error).message).toBe('Elasticsearch answered 404 index_not_found_exception');
  });

  it('go in requests of bounded size, in their order', async () => {
    const large = { text: 'x'.repeat(3 * 1024 ** 2) };
    const { outcome, received } = await sent(
      [write('a', { record: large }), write('b', { record: large }), write('c')],
      0,
      items(done),
    );
    expect([outcome, received]).toEqual(['written', [['a'], ['b', 'c']]]);
  });

  it('have a position that is a version, or none is written', async () => {
    const { outcome, received } = await sent([write('a', { position: 'C:1/P:1' })], 0, items(done));
    expect([(outcome as Error).name, received]).toEqual(['RangeError', []]);
  });
});

describe('a server', () => {
  it.each([401, 403])('that answers %d does not serve us: nobody is to blame for what was asked', async (status) => {
    const { server, close } = await serving(whole(status, 'security_exception'));
    const error = await writeRecords(server, 'alias', [write('a')], 0).catch((thrown: unknown) => thrown);
    await close();
    expect([isUnavailable(error), String(error)]).toEqual([
      true,
      `Unavailable: search is unavailable: Elasticsearch does not serve this: ${status} security_exception`,
    ]);
  });

  it('that is away is unavailable, and its address is not told', async () => {
    const { server, close } = await serving(items(done));
    await close();
    const error = await writeRecords(server, 'alias', [write('a')], 0).catch((thrown: unknown) => thrown);
    expect(isUnavailable(error)).toBe(true);
    expect(String(error)).not.toContain('127.0.0.1');
  });
});
