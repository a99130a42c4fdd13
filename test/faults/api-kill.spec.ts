import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Child, startChild } from '../e2e/child';
import { ADMIN_KEY } from '../e2e/harness';
import { rounds, seed, seededNumbers } from './log/rounds';

/** Faults 1 and 2: kill -9 while writes run, at any moment before or after their appends; clients repeat under the same keys. */
const ROUNDS = rounds(2);
const WRITES = 20;

interface Space {
  readonly id: string;
  readonly name: string;
}

const number = seededNumbers();
const dataDir = mkdtempSync(join(tmpdir(), 'api-kill-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const start = () =>
  startChild('apps/api/src/main.ts', { DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn', BOOTSTRAP_API_KEY: ADMIN_KEY });

const create = async ({ url }: Child, name: string): Promise<Space | undefined> => {
  const answer = await fetch(`${url}/api/v1/core/spaces`, {
    method: 'POST',
    headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json', 'idempotency-key': name },
    body: JSON.stringify({ name }),
  });
  return answer.status === 201 ? ((await answer.json()) as Space) : undefined;
};

const spaces = async ({ url }: Child): Promise<Space[]> => {
  const found: Space[] = [];
  for (let cursor = ''; ;) {
    const page = (await (
      await fetch(`${url}/api/v1/core/spaces?limit=100${cursor}`, { headers: { 'x-api-key': ADMIN_KEY } })
    ).json()) as { items: Space[]; nextCursor: string | null };
    found.push(...page.items);
    if (page.nextCursor === null) return found;
    cursor = `&cursor=${page.nextCursor}`;
  }
};

test(
  `what was acknowledged stays, and every repeat happens once (SEED=${seed})`,
  async () => {
    let product = await start();
    for (let round = 0; round < ROUNDS; round += 1) {
      const names = Array.from({ length: WRITES }, (_, index) => `Round ${round} write ${index}`);
      // A write that the kill cut off has no answer.
      const running = names.map((name) => create(product, name).catch(() => undefined));
      await pause(number(60));
      product.kill('SIGKILL');
      const acknowledged = await Promise.all(running);
      await product.exited;

      product = await start();
      const repeated = await Promise.all(names.map((name) => create(product, name)));
      const ids = repeated.map((space) => space?.id);
      expect(ids).not.toContain(undefined);
      acknowledged.forEach((space, index) => space !== undefined && expect(ids[index]).toBe(space.id));
      const listed = (await spaces(product)).filter(({ name }) => name.startsWith(`Round ${round} `));
      expect(listed.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
    }
    await product.stop();
  },
  60_000 + ROUNDS * 30_000,
);
