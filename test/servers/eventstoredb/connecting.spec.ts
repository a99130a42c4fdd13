import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status, type ServiceError } from '@grpc/grpc-js';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { until } from '../../fixtures/until';
import { createCertificate } from './certificate';
import { startEventStoreDouble } from './double';
import { RawClient } from './raw-client';

describe('the double of EventStoreDB, by its connection string', () => {
  const folder = mkdtempSync(join(tmpdir(), 'eventstoredb-tls-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** True, or type and code of the error. */
  const append = async (url: string): Promise<unknown> => {
    const connection = EventStoreDBClient.connectionString(url);
    const told = connection.appendToStream('notes-1', jsonEvent({ type: 'Noted', data: {} })).then(
      ({ success }) => success,
      ({ type, code }: ServiceError & { type: unknown }) => [type, code],
    );
    await told;
    await connection.dispose();
    return told;
  };
  const file = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };

  it('is found by discovery', async () => {
    const double = await startEventStoreDouble();
    expect(await append(double.url.replace('esdb:', 'esdb+discover:'))).toBe(true);
    await double.stop();
  });

  it('serves TLS to those who know a password', async () => {
    const tls = createCertificate();
    const double = await startEventStoreDouble({ tls, users: { admin: 'changeit' } });
    const urlAs = (user: string): string =>
      `${double.url.replace('://', `://${user}`)}&tlsCAFile=${file('ca.pem', tls.certificate)}`;
    const told = [await append(urlAs('admin:changeit@')), await append(urlAs('admin:wrong@')), await append(urlAs(''))];
    await double.stop();
    expect(told).toEqual([true, ['access-denied', status.UNAUTHENTICATED], ['access-denied', undefined]]);
  });

  it('asks for a certificate of the client', async () => {
    const [tls, own] = [createCertificate(), createCertificate('client')];
    const double = await startEventStoreDouble({ tls: { ...tls, clientAuthority: own.certificate } });
    const url = `${double.url}&tlsCAFile=${file('ca.pem', tls.certificate)}`;
    const told = [
      await append(`${url}&userCertFile=${file('own.pem', own.certificate)}&userKeyFile=${file('own.key', own.key)}`),
      await append(url),
    ];
    await double.stop();
    expect(told).toEqual([true, [undefined, status.UNAVAILABLE]]);
  });
});

describe('the double of EventStoreDB as a process of its own', () => {
  const start = async (file: string) => {
    const child = fork(join(__dirname, 'main.ts'), ['--port', '0', '--file', file], {
      execArgv: ['--require', join(__dirname, '..', '..', 'register.cjs')],
      silent: true,
    });
    const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer];
    return { child, client: new RawClient(Number(/:(\d+)\?/.exec(line.toString())?.[1])) };
  };

  it('has every acknowledged event after SIGKILL, and takes faults from its parent', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'eventstoredb-'));
    const first = await start(join(folder, 'log.jsonl'));
    const ids = Array.from({ length: 200 }, () => first.client.append('notes-1'));
    await until(() => first.client.answers.length >= 100);
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    const acknowledged = first.client.answers.length;
    first.client.close();

    const second = await start(join(folder, 'log.jsonl'));
    const stored = await second.client.read('notes-1');
    expect(stored.length).toBeGreaterThanOrEqual(acknowledged);
    expect(stored).toEqual(ids.slice(0, stored.length));
    second.child.send({ isUnavailable: true });
    await until(() => second.client.failure !== undefined || (second.client.append('notes-1'), false));
    second.client.close();
    second.child.kill('SIGTERM');
    await once(second.child, 'exit');
    rmSync(folder, { recursive: true });
  });
});
