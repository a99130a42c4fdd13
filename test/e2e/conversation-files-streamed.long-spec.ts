import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeModelsFile } from '../fixtures/models-file';
import { until } from '../fixtures/until';
import { aDayLater, at, PNG, questionWith, shown, statuses, uploaded, withFile } from './attachments-world';
import { conversationPath, platform, remove, says, upstream, withConversations } from './conversations-world';
import { ADMIN_KEY, startTestPlatform } from './harness';

withConversations();
beforeEach(() => {
  upstream.behaviour = says('Yes.');
});
afterEach(() => void jest.restoreAllMocks());

describe('an attached file', () => {
  it('ends in the middle where it is deleted while it is read, and that is no damage', async () => {
    const large = await uploaded(Buffer.concat([PNG, randomBytes(19 * 1024 ** 2)]), 'large.png');
    const { conversationId } = await questionWith(large);
    const response = await fetch(`${platform.url}${at(large.id)}/content`, { headers: { 'x-api-key': ADMIN_KEY } });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let heard = (await reader.read()).value?.length ?? 0;
    await platform.call(conversationPath(`/${conversationId}`), { method: 'DELETE' });
    await until(async () => (await shown(large.id)).status === 404, 'the file to be gone');
    const rest = async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        heard += value.length;
      }
    };
    await expect(rest()).rejects.toThrow();
    expect(heard).toBeLessThan(large.sizeBytes);
  });

  it('is there while the view of what names it is built anew, and is late', async () => {
    const file = await uploaded('Rebuilt.', 'a.txt');
    const deleted = await uploaded('Deleted.', 'b.txt');
    await questionWith(file);
    const gone = await questionWith(deleted);
    await remove(gone.conversationId, gone.messageId);
    aDayLater();
    const path = '/api/v1/operations/projections/attachments';
    const version = async () => (await platform.call<{ version: number }>(path)).body.version;
    const before = await version();
    expect((await platform.call(`${path}/rebuild`, { method: 'POST', body: { swap: true } })).status).toBe(202);
    await until(async () => {
      expect([await statuses(file.id), await statuses(deleted.id)]).toEqual([
        [200, 200],
        [404, 404],
      ]);
      return (await version()) > before;
    }, 'the rebuild');
    expect([await statuses(file.id), await statuses(deleted.id)]).toEqual([
      [200, 200],
      [404, 404],
    ]);
  });

  it('is held in memory in part for whoever reads nothing of it, and closed when they leave', async () => {
    const large = await uploaded(Buffer.concat([PNG, randomBytes(19 * 1024 ** 2)]), 'large.png');
    const { blobs } = platform.platform.host.stores;
    const [opened, real] = [{ count: 0, bytes: 0 }, blobs.open.bind(blobs)];
    jest.spyOn(blobs, 'open').mockImplementation(async (stream: string, name: string) => {
      const body = await real(stream, name);
      async function* pieces(given: AsyncIterable<Buffer>) {
        opened.count += 1;
        try {
          for await (const piece of given) {
            opened.bytes += piece.length;
            yield piece;
          }
        } finally {
          opened.count -= 1;
        }
      }
      return body && { ...body, pieces: pieces(body.pieces) };
    });
    const { port, hostname } = new URL(platform.url);
    const socket = connect(Number(port), hostname).pause();
    socket.on('error', () => undefined);
    socket.write(`GET ${at(large.id)}/content HTTP/1.1\r\nhost: here\r\nx-api-key: ${ADMIN_KEY}\r\n\r\n`);
    await until(() => opened.bytes > 0, 'the first piece');
    let last = -1;
    await until(
      () => {
        const stands = last === opened.bytes;
        last = opened.bytes;
        return stands;
      },
      'the answer to stand still',
      { every: 300 },
    );
    expect([opened.count, opened.bytes < large.sizeBytes]).toEqual([1, true]);
    socket.destroy();
    await until(() => opened.count === 0, 'the file to be closed');
  });
});

it('an attached file comes back after a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'files-restart-'));
  const models = [{ key: 'm', kind: 'chat', pricing: 'free' }];
  const MODELS_FILE = writeModelsFile(folder, upstream, models, { titleModel: null });
  const start = () => startTestPlatform({ dataDir: join(folder, 'data'), environment: { MODELS_FILE } });
  try {
    const first = await start();
    const body = { name: 'Guide', knowledgeEnabled: false };
    const { id: agent } = (await first.call<{ id: string }>('/api/v1/core/agents', { method: 'POST', body })).body;
    const [named, unnamed] = [
      await uploaded('Named.', 'a.txt', { agent, to: first }),
      await uploaded('Unnamed.', 'b.txt', { agent, to: first }),
    ];
    const path = `/api/v1/core/llm/${agent}/conversation`;
    const asked = await first.call(path, { method: 'POST', body: { message: withFile({ fileId: named.id }) } });
    expect(asked.status).toBe(200);
    await first.stop({ keep: true });
    aDayLater();
    const second = await start();
    expect((await second.call(`${at(named.id, agent)}/content`)).text).toBe('Named.');
    expect((await second.call(`${at(unnamed.id, agent)}/content`)).status).toBe(404);
    await second.stop();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
