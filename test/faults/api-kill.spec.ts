import { setTimeout as pause } from 'node:timers/promises';
import type { Child } from '../e2e/child';
import { call, KEY, killedProduct } from './killed-product';
import { rounds, seed, seededNumbers } from './log/rounds';

/** Faults 1 and 2: kill -9 while writes run, at any moment before or after their appends; clients repeat under the same keys. */
const ROUNDS = rounds(2);
const WRITES = 20;

interface Space {
  readonly id: string;
  readonly name: string;
}

const number = seededNumbers();
const { start } = killedProduct('api-kill');

const create = async ({ url }: Child, name: string): Promise<Space | undefined> => {
  const answer = await fetch(`${url}/api/v1/core/spaces`, {
    method: 'POST',
    headers: { 'x-api-key': KEY, 'content-type': 'application/json', 'idempotency-key': name },
    body: JSON.stringify({ name }),
  });
  return answer.status === 201 ? ((await answer.json()) as Space) : undefined;
};

const spaces = async (child: Child): Promise<Space[]> => {
  const found: Space[] = [];
  for (let cursor = ''; ;) {
    const page = await call<{ items: Space[]; nextCursor: string | null }>(child, `core/spaces?limit=100${cursor}`);
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
