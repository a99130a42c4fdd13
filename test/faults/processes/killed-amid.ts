import type { Child } from '../../e2e/child';
import { until } from '../../fixtures/until';

/** A request that is under way when its process is killed. */
export interface Doomed {
  /** Before which of its appends, from 1. */
  readonly at: number;
  /** A policy may append the same first, so that the request ends. */
  readonly raced: boolean;
  /** Sends it with these headers; answers its status. */
  readonly send: (headers: { readonly 'x-request-id': string }) => Promise<number>;
}

/**
 * Kills `test/faults/processes/dying-child.ts` once each of these requests stands before its append, which none of them makes: one death for
 * all of them. They must not touch each other. Whoever was raced may have ended instead.
 */
export const killedAmid = async (product: Child, doomed: readonly Doomed[]): Promise<void> => {
  const outcomes: string[] = [];
  const idOf = ({ at }: Doomed, index: number): string => `held-${at}-${index}`;
  const asked = doomed.map(async (request, index) => {
    outcomes[index] = await request.send({ 'x-request-id': idOf(request, index) }).then(
      (status) => (status < 300 ? 'done' : String(status)),
      ({ message }: Error) => message,
    );
  });
  await until(() => {
    const said = new Set(product.output().split('\n'));
    return doomed.every(
      (request, index) => outcomes[index] !== undefined || said.has(`${idOf(request, index)} is held`),
    );
  }, 'that each of them is held');
  product.kill('SIGKILL');
  await product.exited;
  await Promise.all(asked);
  const expected = doomed.map(({ raced }, index) => (raced && outcomes[index] === 'done' ? 'done' : 'fetch failed'));
  expect(outcomes).toEqual(expected);
};
