import { projections } from '@app/hosting';
import { until } from '../fixtures/until';
import { expectFits } from '../fixtures/view';
import { type TestPlatform } from './harness';

/** Makes some of everything that a view shows. */
export const fill = async ({ call }: TestPlatform): Promise<void> => {
  const post = async (path: string, body: object): Promise<string> => {
    const answer = await call<{ id: string }>(`/api/v1/core${path}`, { method: 'POST', body });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.text}`);
    return answer.body.id;
  };
  const space = await post('/spaces', { name: 'Backed up' });
  await post(`/spaces/${space}/prompts`, { title: 'Greeting', text: 'Say hello.' });
  const agent = await post('/agents', { spaceId: space, name: 'Guide', knowledgeEnabled: true });
  await post('/users', { email: 'somebody@example.com', name: 'Somebody', role: 'member' });
  const document = await post(`/knowledge/${agent}/documents`, {
    name: 'ferries.md',
    content: '# Ferries\n\nThe ferry leaves at nine.',
    mimeType: 'text/markdown',
  });
  await until(
    async () =>
      (await call<{ status: string }>(`/api/v1/core/knowledge/${agent}/documents/${document}`)).body.status === 'Ready',
    'the document',
  );
  await post(`/llm/${agent}/conversation`, { message: 'When does the ferry leave?' });
  await call(`/api/v1/core/spaces/${await post('/spaces', { name: 'Deleted' })}`, { method: 'DELETE' });
};

/** Every row of every view and the digest of every searchable document, as of a position: later rows are left out. */
export const everyRow = async ({ platform: { host } }: TestPlatform, upTo: string) => {
  const { readStore, searchIndex } = host.stores;
  const rows: unknown[] = [];
  for (const { kind, name } of projections) {
    const version = (await (kind === 'rows' ? readStore : searchIndex).live(name)) ?? 1;
    if (kind === 'search')
      rows.push(...(await searchIndex.scan(name, version, null, 1_000)).map((found) => ({ name, ...found })));
    else
      rows.push(
        ...(await readStore.scan(name, version, null, 10_000))
          .filter(({ position }) => position <= upTo)
          .map((row) => ({ name, ...row })),
      );
  }
  return rows;
};

export const allReached = async ({ platform: { host } }: TestPlatform, position: string): Promise<void> => {
  for (const view of host.projecting.names())
    await until(() => host.projecting.waitFor(view, position, 1_000), `the view ${view}`);
};

/** Every row of every view is what its projection declares. */
export const expectRowsFit = async ({ platform: { host } }: TestPlatform): Promise<void> => {
  const { readStore } = host.stores;
  for (const projection of projections)
    if (projection.kind === 'rows')
      for (const { row } of await readStore.scan(
        projection.name,
        (await readStore.live(projection.name)) ?? 1,
        null,
        10_000,
      ))
        expectFits(projection, row);
};
