import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { knownSealText } from '@app/sealing';
import { operate } from '../../apps/operator/src/program';
import { verifyFolder } from '../fixtures/sealed-log';
import { tamper, type TamperedRow } from '../fixtures/tampering';
import { until } from '../fixtures/until';
import { startTestPlatform, type TestPlatform } from './harness';

const SEAL_KEY = 'the seal key of a test of forgery, which is kept apart';

/** What an event says beside its data, as anybody can read it in others. */
const meta = () =>
  JSON.stringify({
    $correlationId: randomUUID(),
    $causationId: randomUUID(),
    commandId: randomUUID(),
    actor: 'user:1',
    schema: '1',
    recordedAt: new Date().toISOString(),
  });

describe('somebody with the disk and without SEAL_KEY', () => {
  let platform: TestPlatform | undefined;
  let dataDir = '';
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

  const running = async <T>(work: (started: TestPlatform) => Promise<T>): Promise<T> => {
    platform = await startTestPlatform({ ...(dataDir === '' ? {} : { dataDir }), environment: { SEAL_KEY } });
    dataDir = platform.dataDir;
    try {
      const result = await work(platform);
      await until(() => platform?.platform.host.sealer.waiting === 0, 'the seals');
      return result;
    } finally {
      await platform.stop({ keep: true });
    }
  };

  it('gets no forged event sealed and no removal excused, and everybody is told', async () => {
    const { userId, publicKey } = await running(async ({ newCaller, platform: { host } }) => ({
      userId: (await newCaller({ role: 'member' })).userId,
      publicKey: host.sealKey.publicKey,
    }));
    const { lastSeal } = await verifyFolder(dataDir, { publicKeys: [publicKey] });
    const stream = `user-${userId}`;
    let forged: TamperedRow[] = [];
    tamper(dataDir, (rows) => {
      const revision = rows.filter((row) => row.stream === stream).length;
      forged = [
        {
          stream,
          revision,
          id: randomUUID(),
          type: 'UserRoleChanged',
          data: JSON.stringify({ role: 'admin' }),
          metadata: meta(),
        },
        {
          stream: 'removals-1',
          revision: 0,
          id: randomUUID(),
          type: 'EventsRemoved',
          data: JSON.stringify({ stream, beforeRevision: 1, reason: 'retention' }),
          metadata: meta(),
        },
      ];
      return [...rows, ...forged];
    });

    await running(async ({ call, platform: { host } }) => {
      await until(async () => (await host.stores.log.readStream('unproven-1')).length > 0, 'the record');
      const { body } = await call<{ unprovenEvents: { events: number } }>('/health');
      expect(body.unprovenEvents).toMatchObject({ events: 2 });
      expect((await call('/metrics')).text).toMatch(/unproven_events 2/);
      expect((await call('/api/v1/core/spaces', { method: 'POST', body: { name: 'Later' } })).status).toBe(201);
    });
    tamper(dataDir, (rows) =>
      rows.map((row) =>
        row.stream === stream && row.revision < 1 ? { ...row, type: '', data: '', metadata: '' } : row,
      ),
    );

    for (const since of [[], ['--since', knownSealText(lastSeal ?? { ordinal: 0, hash: '' })]]) {
      const { code, text } = await operator(['--json', 'verify', ...since]);
      expect(code).toBe(3);
      const { removals, findings } = JSON.parse(text) as {
        removals: readonly object[];
        findings: readonly { kind: string; id: string; stream: string; revision: number }[];
      };
      expect(removals).toEqual([]);
      for (const { id } of forged) expect(findings).toContainEqual(expect.objectContaining({ kind: 'inserted', id }));
      expect(findings).toContainEqual(expect.objectContaining({ kind: 'missing', stream, revision: 0 }));
    }
  });

  const operator = async (words: readonly string[]): Promise<{ readonly code: number; readonly text: string }> => {
    let text = '';
    const before = process.env;
    process.env = { ...before, DATA_DIR: dataDir, SEAL_KEY };
    try {
      return {
        code: await operate(words, {
          stdout: { write: (piece: string) => (text += piece) !== '', isTTY: false },
          stderr: { write: () => true, isTTY: false },
        }),
        text,
      };
    } finally {
      process.env = before;
    }
  };
});
