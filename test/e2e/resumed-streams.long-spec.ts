import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../fixtures/until';
import { follow } from './follow';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from './harness';

const CORE = '/api/v1/core';

/** Reads a stream until something was heard; gives the last id, and all that was heard. */
const heardOf = async (
  { url }: TestPlatform,
  path: string,
  isEnough: (heard: string) => boolean,
  { lastEventId, meanwhile }: { lastEventId?: string; meanwhile?: () => Promise<unknown> } = {},
) => {
  const leave = new AbortController();
  const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  const { status, heard, ended } = await follow(`${url}${path}`, ADMIN_KEY, leave.signal, headers);
  expect(status).toBe(200);
  await meanwhile?.();
  await until(() => isEnough(heard.join('')), `what ${path} says`);
  leave.abort();
  await ended;
  const text = heard.join('');
  return { text, id: [...text.matchAll(/^id: (\S+)$/gm)].at(-1)?.[1] ?? '' };
};

test('streams that are resumed behind an event of a log that was restored from an older backup, and has grown beyond since, say so', async () => {
  const kept = mkdtempSync(join(tmpdir(), 'restored-'));
  const first = await startTestPlatform();
  const { dataDir } = first;
  const created = async ({ call }: TestPlatform, path: string, body: object) => {
    const answer = await call<{ id: string }>(`${CORE}${path}`, { method: 'POST', body });
    expect(answer.status).toBeLessThan(300);
    return answer.body.id;
  };
  const spaceId = await created(first, '/spaces', { name: 'Kept' });
  const agentId = await created(first, '/agents', { spaceId, name: 'Guide' });
  await first.stop({ keep: true });
  cpSync(dataDir, join(kept, 'backup'), { recursive: true });

  const audited = '/api/v1/audit/events?follow=true';
  const documents = `${CORE}/knowledge/${agentId}/documents`;
  const add = (platform: TestPlatform, name: string) =>
    created(platform, `/knowledge/${agentId}/documents`, { name, content: name, mimeType: 'text/plain' });
  const second = await startTestPlatform({ dataDir, listen: true });
  const lost = {
    audited: await heardOf(second, audited, (heard) => heard.includes('"stream":"document-'), {
      meanwhile: () => add(second, 'Lost.'),
    }),
    documents: await heardOf(second, `${documents}/events`, (heard) => heard.includes('"status":"Ready"'), {
      meanwhile: () => add(second, 'Lost, too.'),
    }),
  };
  // Behind what is there the streams go on.
  const again = await heardOf(second, `${documents}/events`, (heard) => heard.includes('"status":"Ready"'), {
    lastEventId: lost.documents.id,
    meanwhile: () => add(second, 'Lost as well.'),
  });
  expect(again.text).not.toContain('event: restored');
  const end = (await second.platform.host.stores.log.head()) ?? '';
  await second.stop({ keep: true });
  rmSync(dataDir, { recursive: true });
  cpSync(join(kept, 'backup'), dataDir, { recursive: true });

  const third = await startTestPlatform({ dataDir, listen: true });
  const grown = async () => ((await third.platform.host.stores.log.head()) ?? '') > end;
  for (let more = 0; !(await grown()); more += 1) await created(third, '/spaces', { name: `Other ${more}` });
  for (const [path, { id }] of [
    [audited, lost.audited],
    [`${documents}/events`, lost.documents],
  ] as const) {
    const isTold = (heard: string): boolean => heard.includes('event: restored\ndata: {}\n');
    const told = await heardOf(third, path, isTold, { lastEventId: id });
    const name = `Behind ${path.length}.`;
    const next = await heardOf(third, path, (heard) => /^id: .+$/m.test(heard), {
      lastEventId: told.id,
      meanwhile: () => add(third, name),
    });
    expect(next.text).not.toContain('event: restored');
  }
  await third.stop();
  rmSync(kept, { recursive: true });
}, 120_000);
