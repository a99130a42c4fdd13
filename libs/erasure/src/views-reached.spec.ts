import type { Projecting } from '@app/projecting';
import { heldBack, viewsReached } from './views-reached';

/** Two views; `late` are not there in time, and the build beside `agents` passes the deletion at the second look. */
const setUp = (late: readonly string[] = []) => {
  const looks: string[] = [];
  let asked = 0;
  const projecting = {
    names: () => ['agents', 'documents'],
    waitFor: async (view: string, position: string) => {
      looks.push(`${view} ${position}`);
      return !late.includes(view);
    },
    rebuild: (view: string) => ({ status: async () => (view === 'agents' ? { state: 'ready' } : undefined) }),
    buildsReached: async () => (asked += 1) > 1,
  };
  // What is asked of it here.
  return { looks, looksBeside: () => asked, reached: viewsReached(projecting as unknown as Projecting) };
};

it('an erasure waits for every view, and for the builds beside them', async () => {
  const { looks, looksBeside, reached } = setUp();
  await reached('0007');
  expect(looks).toEqual(['agents 0007', 'documents 0007']);
  expect(looksBeside()).toBe(2);
});

it.each(['agents', 'documents'])('an erasure is not over while the view %s is behind the log', async (view) => {
  await expect(setUp([view]).reached('0007')).rejects.toMatchObject({
    name: 'Unavailable',
    dependency: `the view ${view}`,
  });
});

it('views are held back by dead letters of what is erased alone, each is named once, and those that ask together share a look', async () => {
  const letters = [
    { name: 'agents', stream: 'agent-1' },
    { name: 'agents', stream: 'agent-1' },
    { name: 'documents', stream: 'document-1' },
    { name: 'spaces', stream: 'space-9' },
  ];
  let looks = 0;
  const projecting = {
    lettersOfBuilds: async () => {
      looks += 1;
      return letters;
    },
  };
  // What is asked of it here.
  const held = heldBack(projecting as unknown as Projecting);
  expect(await Promise.all([held(['agent-1', 'document-1']), held(['document-1']), held(['agent-2'])])).toEqual([
    ['agents', 'documents'],
    ['documents'],
    [],
  ]);
  expect(looks).toBeLessThanOrEqual(2);
});
