import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filesWhere } from '../fixtures/files-under';
import { ownTime } from '../fixtures/own-time';
import { until } from '../fixtures/until';
import { startTestPlatform } from './harness';

/** Messages of a release whose messages had no key of their own: `DELETE` hides one everywhere, that of its conversation erases it. */

const RELEASE = join(__dirname, '..', 'fixtures', 'releases', '1.5.0');
const WORDS = 'And which pier is closed?';

interface List<T> {
  readonly items: readonly T[];
}
interface Message {
  readonly id: string;
  readonly conversationId: string;
  readonly parts: readonly { readonly text?: string }[];
}

it('a message that was recorded before is hidden everywhere, and erased with its conversation', async () => {
  const work = mkdtempSync(join(tmpdir(), 'earlier-'));
  execFileSync('tar', ['-C', work, '-xzf', join(RELEASE, 'data.tar.gz')]);
  const { key, answers } = JSON.parse(readFileSync(join(RELEASE, 'answers.json'), 'utf8')) as {
    readonly key: string;
    readonly answers: Readonly<Record<string, List<Message>>>;
  };
  const platform = await startTestPlatform({
    dataDir: join(work, 'data'),
    environment: { MODELS_FILE: join(work, 'models.json'), BOOTSTRAP_API_KEY: key },
  });
  const call = <T = List<Message>>(path: string, method: 'GET' | 'DELETE' = 'GET') =>
    platform.call<T>(path, { method, key });
  const onDisk = (): boolean => filesWhere(join(work, 'data'), (bytes) => bytes.includes(WORDS)).length > 0;
  try {
    const [path = '', before] =
      Object.entries(answers).find(
        ([each, { items }]) => each.endsWith('/messages') && items.some(({ parts }) => parts[0]?.text === WORDS),
      ) ?? [];
    const conversation = path.slice(0, -'/messages'.length);
    const all = conversation.slice(0, conversation.lastIndexOf('/'));
    const question = before?.items.find(({ parts }) => parts[0]?.text === WORDS) as Message;
    const shown = async () => JSON.stringify((await call(path)).body);
    const found = async () => (await call<Partial<List<object>>>(`${all}?q=pier%20closed`)).body.items?.length ?? 0;
    await until(async () => (await shown()).includes(WORDS) && (await found()) > 0, 'the views');
    expect([(await call(`${path}/${question.id}`)).status, await found(), onDisk()]).toEqual([200, 1, true]);

    expect((await call(`${path}/${question.id}`, 'DELETE')).status).toBe(204);
    // Views of an earlier release are made anew meanwhile; who deletes does not wait for that.
    await until(async () => (await call(`${path}/${question.id}`)).status === 404, 'the views');
    expect(await shown()).not.toContain(WORDS);
    expect((await call(path)).body.items).toHaveLength((before?.items.length ?? 0) - 1);
    await until(async () => !(await call(`${all}?q=which`)).text.includes(question.conversationId), 'the search');
    expect((await call(conversation, 'DELETE')).status).toBe(204);
    const took = ownTime();
    const receipts = async () =>
      (await call<List<{ data: { things: readonly string[] } }>>('/api/v1/audit/events?type=ContentErased&limit=100'))
        .body.items;
    await until(
      async () =>
        (await receipts()).some(({ data }) => data.things.includes(`conversation-${question.conversationId}`)),
      'the receipt',
    );
    await until(() => !onDisk(), 'the words in no file');
    expect(took()).toBeLessThan(10_000);
    const audited = await call('/api/v1/audit/events?limit=100&content=true');
    expect([audited.status, audited.text.includes(WORDS)]).toEqual([200, false]);
  } finally {
    await platform.stop({ keep: true });
    rmSync(work, { recursive: true, force: true });
  }
});
