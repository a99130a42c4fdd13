import { readFileSync } from 'node:fs';
import * as tls from 'node:tls';
import { aggregates } from '@app/hosting';
import { systemClock } from '@app/kernel';
import { type KafkaRelayOptions, openRelay } from '@app/relay';
import { KafkaProcess, isKafkaInstalled } from '../faults/relay/kafka-process';
import { MemoryLogger, stored } from '../fixtures/counters';
import { goldenData } from '../fixtures/golden-events';
import { MemoryLog } from '../fixtures/memory-log';
import { until } from '../fixtures/until';

/** Since Node 22.19; the types are those of the oldest Node that installs the product. */
const { getCACertificates, setDefaultCACertificates } = tls as unknown as {
  getCACertificates(kind: 'default'): string[];
  setDefaultCACertificates(certificates: readonly string[]): void;
};

const trusted = getCACertificates('default');

const specs = (): void => {
  let kafka: KafkaProcess;

  beforeAll(async () => {
    kafka = await KafkaProcess.start({ KAFKA_SECURE: 'true' });
  });
  afterAll(() => kafka.remove());
  beforeEach(() => setDefaultCACertificates([...trusted, readFileSync(kafka.file('ca.pem'), 'utf8')]));
  afterEach(() => setDefaultCACertificates(trusted));

  const relayAs = (sasl: NonNullable<KafkaRelayOptions['sasl']>) => {
    const log = new MemoryLog();
    const logger = new MemoryLogger();
    const relay = openRelay({
      log,
      aggregates,
      clock: systemClock,
      logger,
      source: 'urn:test',
      topicPrefix: `${sasl.mechanism}.`,
      brokers: [`127.0.0.1:${kafka.port + 2}`],
      ssl: true,
      sasl,
      partitions: 1,
      replication: 1,
    });
    return { log, logger, relay };
  };
  const added = () => stored('DocumentAdded', goldenData('DocumentAdded', 1));

  it.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)(
    'takes events of one who signs in with %s over TLS',
    async (mechanism) => {
      const { log, relay } = relayAs({ mechanism, username: 'relay', password: 'relay-secret' });
      await log.append('document-00000000-0000-7000-8000-000000000001', [added()], 'noStream');
      const run = await relay.start(() => undefined);
      await until(() => relay.counts.published === 1);
      expect(await relay.health()).toEqual({ ok: true });
      await run.stop();
    },
  );

  it('takes nothing from one with a wrong password, which nobody repeats', async () => {
    const { log, logger, relay } = relayAs({
      mechanism: 'scram-sha-256',
      username: 'relay',
      password: 'a-wrong-secret',
    });
    await log.append('document-00000000-0000-7000-8000-000000000001', [added()], 'noStream');
    const run = await relay.start(() => undefined);
    await until(() => run.failure !== undefined);
    const said = JSON.stringify([run.failure, await relay.health(), logger.lines]);
    expect(await relay.health()).toMatchObject({ ok: false, reason: expect.stringMatching(/SASL/) as string });
    expect(said).not.toContain('a-wrong-secret');
    await run.stop();
  });

  it('is not spoken to where its certificate is not trusted', async () => {
    setDefaultCACertificates(trusted);
    const { relay } = relayAs({ mechanism: 'plain', username: 'relay', password: 'relay-secret' });
    expect(await relay.health()).toMatchObject({ ok: false });
  });
};

describe('A broker that asks for TLS and a password', () =>
  isKafkaInstalled() ? specs() : it.todo('skipped: Kafka is not installed here (test/servers/kafka.sh install)'));
