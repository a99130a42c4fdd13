import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestPlatform } from '../e2e/harness';
import { until } from '../fixtures/until';

/** A view is thrown away and filled again from the log, whatever happened to its file. */
test('a damaged view is filled again from the log at the next start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'view-damage-'));
  try {
    let platform = await startTestPlatform({ dataDir: folder });
    const created = await platform.call<{ id: string }>('/api/v1/core/spaces', { method: 'POST', body: { name: 'Survivor' } });
    await platform.stop({ keep: true });
    for (const [views, view] of [['views', 'spaces-'], ['search', 'passages-']] as const) {
      const file = readdirSync(join(folder, views)).find((name) => name.startsWith(view)) as string;
      writeFileSync(join(folder, views, file), Buffer.alloc(12_000, 'damage'));
    }
    platform = await startTestPlatform({ dataDir: folder });
    await until(async () => (await platform.call(`/api/v1/core/spaces/${created.body.id}`)).status === 200, 'the Space in its view');
    await until(async () => (await platform.call<{ items: object[] }>('/api/v1/core/spaces')).body.items.length === 2, 'both Spaces in the list');
    await platform.stop({ keep: true });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
