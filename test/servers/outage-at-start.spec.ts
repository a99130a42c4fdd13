import { randomUUID } from 'node:crypto';
import { setTimeout as lasting } from 'node:timers/promises';
import { startTestPlatform } from '../e2e/harness';
import { awayMs } from '../faults/log/rounds';
import { TcpProxy } from '../fixtures/tcp-proxy';
import { until } from '../fixtures/until';
import { instanceOn } from './elasticsearch-instance';
import { startEventStoreDouble } from './eventstoredb/double';

/** A server that is away when the product starts: what holds the truth is waited for, without the others it starts and says so. */

interface Place {
  readonly address: string;
  /** How the product is told of it, on this port. */
  readonly environment: (port: number) => Readonly<Record<string, string>>;
  readonly end?: () => Promise<void>;
}

const through = (url: string, port: number, change: (url: URL) => void): string => {
  const changed = new URL(url);
  changed.port = String(port);
  change(changed);
  return changed.href;
};

const places: Readonly<
  Record<string, { readonly isWaitedFor: boolean; readonly at: (url: string) => Promise<Place> }>
> = {
  EVENTSTORE_URL: {
    isWaitedFor: true,
    at: async () => {
      const { url, stop } = await startEventStoreDouble();
      return {
        address: url,
        environment: (port) => ({ EVENTSTORE_URL: through(url, port, () => undefined) }),
        end: stop,
      };
    },
  },
  MONGODB_URL: {
    isWaitedFor: true,
    at: async (url) => ({
      address: url,
      environment: (port) => ({
        MONGODB_URL: through(url, port, (changed) => {
          changed.pathname = `/start-${randomUUID()}`;
          changed.search = '?directConnection=true';
        }),
      }),
    }),
  },
  S3_URL: {
    isWaitedFor: true,
    at: async (url) => ({
      address: url,
      environment: (port) => ({
        S3_URL: through(url, port, (changed) => (changed.pathname = `/start-${randomUUID()}`)),
      }),
    }),
  },
  ELASTICSEARCH_URL: {
    isWaitedFor: false,
    at: async (url) => {
      const instance = instanceOn(url);
      return {
        address: url,
        environment: (port) => ({ ELASTICSEARCH_URL: instance.urlOf(through(url, port, () => undefined)) }),
        end: () => instance.destroy(),
      };
    },
  },
  KAFKA_BROKERS: {
    isWaitedFor: false,
    at: async (brokers) => ({
      address: `kafka://${brokers.split(',')[0]}`,
      environment: (port) => ({ KAFKA_BROKERS: `127.0.0.1:${port}`, KAFKA_TOPIC_PREFIX: `start-${randomUUID()}.` }),
    }),
  },
};

describe.each(Object.entries(places))('%s away at the start', (variable, { isWaitedFor, at }) => {
  const url = process.env[variable] ?? '';
  if (url === '' && variable !== 'EVENTSTORE_URL') it.todo(`skipped: ${variable} is not set`);
  else
    it(
      isWaitedFor ? 'is waited for' : 'keeps the product from nothing else',
      async () => {
        const { address, environment, end } = await at(url);
        const proxy = await TcpProxy.start(Number(new URL(address).port));
        await proxy.down();
        const starting = startTestPlatform({ environment: environment(proxy.port) });
        try {
          const isStarted = await Promise.race([
            starting.then(() => true),
            // A start that waits for nothing may take its time on a busy machine.
            lasting(isWaitedFor ? 2_000 + awayMs(1) : 60_000, false, { ref: false }),
          ]);
          expect(isStarted).toBe(!isWaitedFor);
          const health = async (): Promise<string> =>
            (await (await starting).call<{ status: string }>('/health')).body.status;
          if (!isWaitedFor) await until(async () => (await health()) === 'degraded', 'health that says so');
          await proxy.up();
          expect(
            (await (await starting).call('/api/v1/core/spaces', { method: 'POST', body: { name: 'Started' } })).status,
          ).toBe(201);
          await until(async () => (await health()) === 'up', 'health');
        } finally {
          // Also where it failed: what is left open would keep the tests from ending.
          await proxy.up();
          const [started] = await Promise.allSettled([starting]);
          if (started.status === 'fulfilled') await started.value.stop();
          await proxy.close();
          await end?.();
        }
      },
      120_000 + awayMs(1),
    );
});
