import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { counted, memoryProjecting, opened } from '../fixtures/counters';
import { MemoryReadStore } from '../fixtures/memory-read-store';
import { inRound, rounds, seed, seededNumbers } from './log/rounds';
import { kill, startChild } from './projecting/child-process';
import { expectViewIsFold, foldLog, openCounterStores } from './projecting/counter-stores';

/** Fault 7: the projector is killed between the write of rows and of the checkpoint. Fault 8: the mutant that moves the checkpoint first must be caught. */

const number = seededNumbers();
let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'projecting-kill-'))));
afterEach(() => rmSync(folder, { recursive: true }));

test(`a projector killed at any moment applies every event once (SEED=${seed})`, async () => {
  for (let round = 0; round < rounds(2); round += 1) {
    await inRound(round, async () => {
      const child = await startChild(folder, 'running');
      await pause(number(300));
      await kill(child);
      const stores = await openCounterStores(folder);
      await stores.projecting.start();
      await expectViewIsFold(stores);
      await stores.close();
    });
  }
});

/** A store whose commit is two steps, and which dies between them at the n-th commit that has changes. */
class TornStore extends MemoryReadStore {
  private left: number;
  private die: () => void = () => undefined;
  readonly died = new Promise<void>((resolve) => (this.die = resolve));

  constructor(
    private readonly first: 'checkpoint' | 'rows',
    dieAt: number,
  ) {
    super();
    this.left = dieAt;
  }

  override async commit(batch: Parameters<MemoryReadStore['commit']>[0]): Promise<void> {
    if (batch.changes.length === 0 || (this.left -= 1) !== 0) return super.commit(batch);
    await super.commit(
      this.first === 'checkpoint' ? { ...batch, changes: [] } : { ...batch, to: { position: batch.from, handled: 0 } },
    );
    this.die();
    return new Promise(() => undefined);
  }
}

const viewAfterTearing = async (
  readStore: MemoryReadStore & { readonly died?: Promise<void> },
): Promise<{ readonly view: unknown; readonly log: string }> => {
  const first = memoryProjecting({ readStore });
  await first.projecting.start();
  for (let index = 0; index < 5; index += 1) {
    const { position } = await first.log.append('counter-a', index === 0 ? [opened('a')] : [counted(1)], 'any');
    const shown = first.projecting.waitFor('counters', position, 2_000);
    const dead = readStore.died?.then(() => false);
    if (!(await (dead === undefined ? shown : Promise.race([shown, dead])))) break;
  }
  const second = memoryProjecting({ readStore, log: first.log });
  await second.projecting.start();
  const { position } = await second.log.append('counter-a', [counted(1)], 'any');
  await second.projecting.waitFor('counters', position, 10_000);
  const view = (await readStore.get('counters', 'counter-a'))?.row['count'];
  await second.projecting.stop();
  return { view, log: await foldLog(first.log) };
};

describe('the check by folding', () => {
  it('passes a store that commits rows and checkpoint together', async () => {
    const { view, log } = await viewAfterTearing(new MemoryReadStore());
    expect(log).toContain(`"count":${view}`);
  });

  it.each(['checkpoint', 'rows'] as const)('catches a store that writes the %s first and dies', async (first) => {
    const { view, log } = await viewAfterTearing(new TornStore(first, 3));
    expect(log).not.toContain(`"count":${view}`);
  });
});
