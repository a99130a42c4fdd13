import { until } from '../../../../test/fixtures/until';
import { chunk, events, startUpstreamDouble, type UpstreamDouble } from '../../../../test/fixtures/upstream-double';
import type { ModelDescription, ProviderDescription } from '../catalogue';
import { Upstream } from './upstream';

const SILENCE_MS = 200;
let double: UpstreamDouble;
let upstream: Upstream;
beforeAll(async () => {
  double = await startUpstreamDouble();
  upstream = new Upstream(
    'acme',
    { kind: 'openai', baseUrl: double.baseUrl } as ProviderDescription,
    undefined,
    SILENCE_MS,
  );
});
afterAll(async () => {
  await upstream.close();
  await double.stop();
});

/** Reads an answer to its end, waiting after each piece: how many came, and why it ended. */
const followed = async (waitMs = 0) => {
  const exchange = upstream.send({ modelId: 'm' } as ModelDescription, 'chat/completions', '{}');
  await exchange.started;
  return new Promise<[pieces: number, end: string]>((resolve) => {
    let pieces = 0;
    const data = (): void => {
      pieces += 1;
      exchange.pause();
      setTimeout(() => exchange.resume(), waitMs);
    };
    exchange.follow({ data, ended: () => resolve([pieces, 'ended']), failed: ({ kind }) => resolve([pieces, kind]) });
  });
};

describe('an answer that has begun', () => {
  it('and falls silent has timed out', async () => {
    double.behaviour = (response) => void events(response, chunk({ content: 'a' }));
    expect(await followed()).toEqual([1, 'timeout']);
  });

  it('may take its time as long as something comes', async () => {
    double.behaviour = async (response) => {
      for (let sent = 0; sent < 6; sent += 1) {
        events(response, chunk({ content: 'a' }));
        await new Promise((resolve) => setTimeout(resolve, SILENCE_MS / 4));
      }
      response.end();
    };
    expect(await followed()).toEqual([6, 'ended']);
  });

  it('is not silent while its reader makes it wait', async () => {
    double.behaviour = (response) => {
      events(response, chunk({ content: 'a' }));
      setTimeout(() => events(response, chunk({ content: 'b' })).end(), SILENCE_MS / 4);
    };
    expect(await followed(SILENCE_MS * 3)).toEqual([2, 'ended']);
  });
});

it.each([false, true])(
  'an answer that is longer than its reader takes is broken, read after it came: %j',
  async (late) => {
    double.behaviour = (response) => void response.writeHead(200).end('x'.repeat(1_001));
    const exchange = upstream.send({ modelId: 'm' } as ModelDescription, 'chat/completions', '{}');
    await exchange.started;
    if (late) await until(() => double.open === 0, 'the end of the answer');
    await expect(exchange.whole(1_000)).rejects.toMatchObject({ kind: 'broken' });
  },
);

describe('an answer that a client reads as a web stream', () => {
  const bodyOf = async (limit?: number): Promise<string> => {
    const exchange = upstream.send({ modelId: 'm' } as ModelDescription, 'chat/completions', '{}');
    await exchange.started;
    return new Response(exchange.body(limit)).text();
  };

  it('comes whole, however large beside what is read ahead', async () => {
    const large = 'x'.repeat(5_000_000);
    double.behaviour = (response) => void response.writeHead(200).end(large);
    expect(await bodyOf()).toBe(large);
  });

  it('is broken where it is too long, or cut', async () => {
    double.behaviour = (response) => void response.writeHead(200).end('x'.repeat(1_001));
    await expect(bodyOf(1_000)).rejects.toMatchObject({ kind: 'broken' });
    double.behaviour = (response) => void response.writeHead(200).write('x', () => response.destroy());
    await expect(bodyOf()).rejects.toMatchObject({ kind: 'broken' });
  });
});
