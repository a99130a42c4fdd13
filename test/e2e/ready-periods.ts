import { setTimeout as lasting } from 'node:timers/promises';
import { streamOf } from '@app/kernel';
import { documentDecider } from '@app/knowledge';
import { until } from '../fixtures/until';
import type { TestPlatform } from './harness';

const MODES = ['text', 'vector', 'hybrid'] as const;
const TEXT = { mimeType: 'text/markdown' };
const PAUSE_MS = 10;

interface Seen {
  readonly status: string;
  readonly revision: number;
}

/** A search, with the document as it was shown before and after it. */
interface Search {
  readonly mode: string;
  readonly before: number;
  readonly after: number;
  readonly found: boolean;
}

/**
 * Replaces the content of a document, reprocesses it and makes it fail, so many times, while it is searched for in each mode
 * all the while. Answers the searches that lay within one period, Ready or not.
 */
export const searchesWithinPeriods = async ({ call, platform }: TestPlatform, rounds: number) => {
  const core = (path: string): string => `/api/v1/core${path}`;
  const post = async <T = { id: string }>(path: string, body: object): Promise<T> =>
    (await call<T>(core(path), { method: 'POST', body })).body;
  const space = await post('/spaces', { name: 'Ready periods' });
  const agent = await post('/agents', { spaceId: space.id, name: 'Watcher', knowledgeEnabled: true });
  const documents = `/knowledge/${agent.id}/documents`;
  const { id } = await post(documents, { name: 'a.md', content: 'The quokka sleeps at noon.', ...TEXT });
  const seen = async (): Promise<Seen> => (await call<Seen>(core(`${documents}/${id}`))).body;
  const ended = async (wanted: string): Promise<void> => {
    let { status } = await seen();
    await until(async () => ['Ready', 'Failed'].includes(({ status } = await seen()).status), 'the end of ingestion');
    expect(status).toBe(wanted);
  };
  await ended('Ready');

  const searches: Search[] = [];
  const made = new Map<string, number>(MODES.map((mode) => [mode, 0]));
  /** The second to end has begun since. */
  const anotherOfEach = async (): Promise<void> => {
    const before = new Map(made);
    const isMade = (mode: string): boolean => Number(made.get(mode)) >= Number(before.get(mode)) + 2;
    await until(() => MODES.every(isMade), 'another search in each mode', { every: 1 });
  };
  let isOver = false;
  const watching = MODES.map(async (mode) => {
    while (!isOver) {
      const before = (await seen()).revision;
      const { items } = await post<{ items: object[] }>(`/knowledge/${agent.id}/search`, {
        query: 'When does the quokka sleep?',
        mode,
      });
      searches.push({ mode, before, found: items.length > 0, after: (await seen()).revision });
      made.set(mode, Number(made.get(mode)) + 1);
      await lasting(PAUSE_MS);
    }
  });
  const changes: readonly ((round: number) => readonly ['PUT' | 'POST', string, object, string])[] = [
    (round) => ['PUT', '', { content: `The quokka sleeps at ${round}.`, ...TEXT }, 'Ready'],
    () => ['POST', '/reprocess', { force: true }, 'Ready'],
    // It ends before a process would be started to read it.
    () => ['PUT', '', { content: ' ', ...TEXT }, 'Failed'],
  ];
  for (let round = 0; round < rounds; round += 1) {
    const [method, path, body, status] = (changes[round % changes.length] as (typeof changes)[number])(round);
    await call(core(`${documents}/${id}${path}`), { method, body });
    await ended(status);
    // Searches fit into what is Ready or failed, as many into either, and searches are met by a change.
    if (round % (status === 'Failed' ? 2 : 4) === 0) await anotherOfEach();
    else await lasting(round % PAUSE_MS);
  }
  isOver = true;
  await Promise.all(watching);

  const ready: boolean[] = [];
  for (const { type } of await platform.host.stores.log.readStream(streamOf(documentDecider.category, id)))
    ready.push(type === 'DocumentReady');
  return searches.flatMap(({ before, after, ...search }) => {
    const period = new Set(ready.slice(before, after + 1));
    return period.size === 1 ? [{ ...search, isReady: period.has(true) }] : [];
  });
};

/** How many of the searches found the document, and how many did not, in each mode and kind of period. */
export const tallied = (searches: Awaited<ReturnType<typeof searchesWithinPeriods>>) => {
  const count = (mode: string, isReady: boolean, found: boolean): number =>
    searches.filter((search) => search.mode === mode && search.isReady === isReady && search.found === found).length;
  return MODES.map((mode) => ({
    mode,
    ready: { found: count(mode, true, true), missed: count(mode, true, false) },
    notReady: { found: count(mode, false, true), missed: count(mode, false, false) },
  }));
};
