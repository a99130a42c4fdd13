import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownTime } from '../../../../test/fixtures/own-time';
import { until } from '../../../../test/fixtures/until';
import { createCertificate } from '../../../../test/servers/eventstoredb/certificate';
import { type EventStoreDouble, startEventStoreDouble } from '../../../../test/servers/eventstoredb/double';
import { openEventStoreLog, openEventStoreLogReader } from '..';
import { newEvents } from '../contract/log-under-test.contract';
import { waitingFor } from './with-server.contract';

describe('the connection string', () => {
  it('is not repeated when it cannot be read', async () => {
    const opening = openEventStoreLog({ url: 'esdb://admin:geheim@:x?tls=perhaps' });

    await expect(opening).rejects.toThrow('connection string');
    await expect(opening).rejects.not.toThrow(/geheim/);
  });

  it.each([
    [
      'that certificates are not to be verified',
      'tls=true&tlsVerifyCert=false',
      'EVENTSTORE_URL says tlsVerifyCert=false, but certificates are always verified. Remove it, and set tlsCAFile to the certificate of the authority.',
    ],
    [
      'a certificate without its key',
      'tls=true&userCertFile=/nowhere/user.pem',
      'EVENTSTORE_URL must name both userCertFile and userKeyFile, or neither.',
    ],
    [
      'a certificate that is none',
      `tls=true&tlsCAFile=${__filename}`,
      'EVENTSTORE_URL names a certificate that cannot be used: tlsCAFile, userCertFile and userKeyFile must be PEM files.',
    ],
    [
      'a keep-alive that is no time',
      'tls=true&keepAliveInterval=0',
      'EVENTSTORE_URL: keepAliveInterval must be a number of milliseconds, or -1 for none.',
    ],
  ])('is rejected when it says %s, and nothing of it is written on the console', async (_name, options, message) => {
    const written = jest.spyOn(console, 'warn').mockImplementation(() => undefined);

    await expect(openEventStoreLog({ url: `esdb://admin:geheim@127.0.0.1:2113?${options}` })).rejects.toMatchObject({
      name: 'InvalidConfig',
      message,
    });
    expect(written.mock.calls).toEqual([]);
    written.mockRestore();
  });

  it.each(['admin:ge@heim@', 'admin@'])(
    'is rejected when its user cannot be told from the host (%s), and nothing of it is written on the console',
    async (user) => {
      const written = jest.spyOn(console, 'warn').mockImplementation(() => undefined);

      await expect(openEventStoreLog({ url: `esdb://${user}127.0.0.1:2113?tls=true&unknown=1` })).rejects.toMatchObject(
        {
          name: 'InvalidConfig',
          message:
            'EVENTSTORE_URL has an unreadable user. Write user:password@host, with % as %25, @ as %40 and : as %3A.',
        },
      );
      expect(written.mock.calls).toEqual([]);
      written.mockRestore();
    },
  );

  it('may name a certificate that is not there: it is said', async () => {
    await expect(
      openEventStoreLog({ url: 'esdb://admin:geheim@127.0.0.1:2113?tls=true&tlsCAFile=/nowhere/ca.pem' }),
    ).rejects.toThrow(/certificate/);
  });
});

describe('a secure server', () => {
  let folder: string;
  let server: EventStoreDouble;
  let ca: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'eventstore-'));
    ca = join(folder, 'ca.pem');
    const tls = createCertificate();
    writeFileSync(ca, tls.certificate);
    server = await startEventStoreDouble({
      tls,
      users: { admin: 'geheim', reader: 'geheim' },
      mayNotReadAll: ['reader'],
    });
  });
  afterEach(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  const url = (user: string, { authority = ca, host = '127.0.0.1' } = {}): string =>
    `esdb://${user}${host}:${server.port}?tls=true&tlsCAFile=${authority}`;

  it.each(['127.0.0.1', 'localhost'])(
    'is written, read and followed with a user and the certificate of its authority, as %s',
    async (host) => {
      const log = await openEventStoreLog({ url: url('admin:geheim@', { host }) });
      const received: string[] = [];
      const subscription = log.subscribe({
        name: 'secure',
        after: null,
        onEvents: async (events) => void received.push(...events.map(({ id }) => id)),
      });
      await until(() => subscription.caughtUp);
      const events = newEvents(3);
      await log.append('a-1', events, 'noStream');
      await until(() => received.length === 3);
      await log.truncate('a-1', 2);
      const reader = await openEventStoreLogReader({ url: url('admin:geheim@') });

      expect((await reader.readAll()).events).toMatchObject([{ revision: 2 }]);
      expect(await log.health()).toEqual({ writable: true, readable: true });
      await reader.close();
      await log.close();
    },
  );

  it.each([
    ['a wrong password', 'admin:wrong@'],
    ['no user', ''],
  ])('rejects %s at once, and it is said without the password', async (_name, user) => {
    const log = await openEventStoreLog({ url: url(user) });
    const took = ownTime();

    expect(await log.health()).toEqual({ writable: false, readable: false, reason: 'the server rejects the user' });
    await expect(log.append('a-1', newEvents(1), 'noStream')).rejects.toMatchObject({
      name: 'Unavailable',
      outcome: 'none',
      reason: 'the server rejects the user',
    });
    await expect(log.readStream('a-1')).rejects.toMatchObject({
      name: 'Unavailable',
      reason: 'the server rejects the user',
    });
    expect(took()).toBeLessThan(4_000);
    await log.close();
  });

  it('says so of a user who may write and read streams, and not $all', async () => {
    const log = await openEventStoreLog({ url: url('reader:geheim@') });
    expect((await log.append('a-1', newEvents(1), 'noStream')).revision).toBe(0);
    const told = { name: 'Unavailable', reason: expect.stringContaining('$all') };
    await expect(log.head()).rejects.toMatchObject(told);
    await expect(log.readAll()).rejects.toMatchObject(told);
    await log.close();
  });

  it('is not spoken to when another authority signed its certificate', async () => {
    const other = join(folder, 'other.pem');
    writeFileSync(other, createCertificate().certificate);
    const log = await openEventStoreLog({ url: url('admin:geheim@', { authority: other }) });

    expect((await log.health()).reason).toBe(
      'the certificate of the server is not trusted: set tlsCAFile in the connection string to the certificate of its authority',
    );
    await log.close();
  });

  it('is not spoken to by an address for which its certificate does not stand', async () => {
    const tls = createCertificate('localhost', '127.0.0.2');
    writeFileSync(ca, tls.certificate);
    const elsewhere = await startEventStoreDouble({ tls });
    const reached = async (host: string) => {
      const log = await openEventStoreLog({ url: `esdb://${host}:${elsewhere.port}?tls=true&tlsCAFile=${ca}` });
      const health = await log.health();
      await log.close();
      return health;
    };

    expect((await reached('127.0.0.1')).reason).toBe(
      'the certificate of the server is for other names: use one of them as the host in the connection string',
    );
    expect(await reached('localhost')).toEqual({ writable: true, readable: true });
    await elsewhere.stop();
  });

  it.each([
    [
      'without TLS',
      () => `esdb://127.0.0.1:${server.port}?tls=false`,
      'the server uses TLS, but the connection string says tls=false: set tls=true, and tlsCAFile to the certificate of the authority',
    ],
    [
      'under a name that does not resolve',
      () => url('admin:geheim@', { host: 'nowhere.invalid' }),
      'the name of the server cannot be resolved: check the host in the connection string',
    ],
  ])('is not spoken to %s, and it is said why', async (_name, address, reason) => {
    const log = await openEventStoreLog({ url: address() });

    expect(await log.health()).toEqual({ writable: false, readable: false, reason });
    await expect(waitingFor(1_000, () => log.append('a-1', newEvents(1), 'noStream'))).rejects.toMatchObject({
      name: 'Unavailable',
      outcome: 'none',
      reason,
    });
    await log.close();
  });

  it('is what the connection string asks for, and one without TLS is not spoken to', async () => {
    const plain = await startEventStoreDouble();
    const log = await openEventStoreLog({ url: `esdb://127.0.0.1:${plain.port}?tls=true&tlsCAFile=${ca}` });

    expect((await log.health()).reason).toBe(
      'the server does not use TLS, but the connection string does: set tls=false, or give the server a certificate',
    );
    await log.close();
    await plain.stop();
  });

  it('is spoken to as soon as somebody mends what stood in the way', async () => {
    await server.stop();
    const plain = await startEventStoreDouble({ port: server.port });
    const log = await openEventStoreLog({ url: url('admin:geheim@') });
    expect((await log.health()).reason).toContain('does not use TLS');
    await plain.stop();
    await server.restart();

    expect(await log.append('a-1', newEvents(1), 'noStream')).toMatchObject({ revision: 0 });
    expect(await log.health()).toEqual({ writable: true, readable: true });
    await log.close();
  });

  it('that asks for a certificate of the user is shown it', async () => {
    const user = createCertificate('client');
    const certificate = join(folder, 'user.pem');
    const key = join(folder, 'user.key');
    writeFileSync(certificate, user.certificate);
    writeFileSync(key, user.key);
    const tls = createCertificate();
    writeFileSync(ca, tls.certificate);
    const strict = await startEventStoreDouble({ tls: { ...tls, clientAuthority: user.certificate } });
    const address = `esdb://127.0.0.1:${strict.port}?tls=true&tlsCAFile=${ca}`;
    const known = await openEventStoreLog({ url: `${address}&userCertFile=${certificate}&userKeyFile=${key}` });
    const unknown = await openEventStoreLog({ url: address });

    expect((await known.append('a-1', newEvents(1), 'noStream')).revision).toBe(0);
    expect(await unknown.health()).toMatchObject({ writable: false, readable: false });
    await known.close();
    await unknown.close();
    await strict.stop();
  });
});
