import { type Bucket, bucketDecider, bucketIdOf, countOf } from '@app/memory';
import { ADMIN_KEY } from '../../e2e/harness';
import { until } from '../../fixtures/until';
import { dyingProduct } from '../processes/dying-product';
import { killedAmid } from '../processes/killed-amid';

/** Places of each bucket: as many as a test saves at most. */
export const PLACES = 4;
/** What nobody comes back to is settled within a minute. */
const PATIENCE = { patience: 60_000, every: 100 };

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

interface Listed {
  readonly id: string;
  readonly kind: 'personal' | 'shared';
  readonly status: string;
  readonly text: string;
  readonly userId: string;
}

export interface Sent {
  readonly method: 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: object;
}

let product: ReturnType<typeof dyingProduct>;
let names = 0;

/** Starts the product, which dies where a request says so. */
export const withDyingProduct = (): void => {
  const most = { MEMORY_PERSONAL_MAX: String(PLACES), MEMORY_SHARED_MAX: String(PLACES) };
  product = dyingProduct('memory-kill', most);
};

export const name = (): string => `thing ${(names += 1)}`;

export const send = async ({ method, path, body }: Sent, headers: object = {}): Promise<Answer> => {
  const response = await fetch(`${product.child.url}/api/v1${path}`, {
    method,
    headers: { ...headers, 'x-api-key': ADMIN_KEY, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Answer['body']) };
};

export const get = async <T>(path: string): Promise<{ readonly status: number; readonly body: T }> => {
  const response = await fetch(`${product.child.url}/api/v1${path}`, { headers: { 'x-api-key': ADMIN_KEY } });
  return { status: response.status, body: (await response.json()) as T };
};

export const made = async (path: string, body: object): Promise<string> => {
  const answer = await send({ method: 'POST', path, body });
  if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  return String(answer.body['id']);
};

/** Sends a request whose process is killed before an event of this type that a policy appends behind it, and starts the product again. The request may have ended. */
export const killed = async (sent: Sent, type: string): Promise<void> => {
  const outcome = await send(sent, { 'x-request-id': `dying-${type}` }).then(
    ({ status }) => (status < 300 ? 'done' : status),
    ({ message }: Error) => message,
  );
  expect(['done', 'fetch failed']).toContain(outcome);
  await product.child.exited;
  await product.start();
};

/** Sends requests, each of which is killed before an append of its own (`killedAmid`), and starts the product again. */
export const killedTogether = async (
  requests: readonly { readonly sent: Sent; readonly at: number; readonly raced: boolean }[],
): Promise<void> => {
  await killedAmid(
    product.child,
    requests.map(({ sent, at, raced }) => ({
      at,
      raced,
      send: async (headers) => (await send(sent, headers)).status,
    })),
  );
  await product.start();
};

export const memoriesOf = async (agentId: string): Promise<readonly Listed[]> =>
  (await get<{ items: Listed[] }>(`/core/memory/${agentId}/memories?limit=100`)).body.items;

type BucketEvent = Parameters<typeof bucketDecider.evolve>[1];
interface Events<T = unknown> {
  readonly items: readonly { readonly type: string; readonly data: T }[];
}

/** The places of a bucket, as its events say. */
const placesIn = async (bucketId: string): Promise<Bucket['places']> => {
  const events = await get<Events>(`/audit/events?stream=memories-${bucketId}&order=asc&limit=100`);
  // Of this stream, as the log has them: they hold no content.
  return events.body.items.reduce((bucket, event) => bucketDecider.evolve(bucket, event as BucketEvent), {
    ...bucketDecider.initial,
  }).places;
};

/** Waits until the buckets of an Agent have a place for each memory that is saved, and none else, and each proposal that waits has one. Then exactly what is left of them can be filled. */
export const assertPlaces = async (agentId: string, userId: string): Promise<void> => {
  const of = async (kind: Listed['kind']): Promise<readonly [places: readonly string[], saved: readonly string[]]> => {
    const places = await placesIn(bucketIdOf({ agentId, userId: kind === 'shared' ? null : userId, kind }));
    const saved = (await memoriesOf(agentId)).filter((memory) => memory.kind === kind && memory.status === 'saved');
    expect(countOf(places)).toBeLessThanOrEqual(PLACES);
    return [[...places.keys()].toSorted(), saved.map(({ id }) => id).toSorted()];
  };
  const waiting = bucketIdOf({ agentId, userId, kind: 'shared' }, 'proposed');
  await until(
    async () => {
      const proposals = (await memoriesOf(agentId)).filter(({ status }) => status === 'proposed');
      const places = [...(await placesIn(waiting)).keys()];
      return (
        places.toSorted().join() ===
        proposals
          .map(({ id }) => id)
          .toSorted()
          .join()
      );
    },
    'places of what waits',
    PATIENCE,
  );
  for (const kind of ['personal', 'shared'] as const) {
    await until(
      async () => JSON.stringify((await of(kind))[0]) === JSON.stringify((await of(kind))[1]),
      kind,
      PATIENCE,
    );
    const [, saved] = await of(kind);
    const tried: number[] = [];
    for (let free = PLACES - saved.length; free >= 0; free -= 1) tried.push(await add(agentId, kind));
    expect(tried).toEqual([...Array<number>(PLACES - saved.length).fill(200), 409]);
  }
};

/** Saves one more of a kind, if it may: 200, or why not. */
const add = async (agentId: string, kind: string): Promise<number> => {
  const path = `/core/memory/${agentId}/memories`;
  const { status, body } = await send({ method: 'POST', path, body: { text: name(), kind } });
  if (kind === 'personal') return status === 201 ? 200 : status;
  return (await send({ method: 'POST', path: `${path}/${String(body['id'])}/confirm` })).status;
};

/** Waits for the receipts of what was erased: one for each. */
export const assertErased = async (memoryIds: readonly string[]): Promise<void> => {
  const receipts = async () =>
    (await get<Events<{ readonly stream: string }>>('/audit/events?type=ContentErased&limit=100')).body.items.flatMap(
      ({ data }) => memoryIds.filter((id) => data.stream === `memory-${id}`),
    );
  await until(async () => new Set(await receipts()).size === memoryIds.length, 'the receipts', PATIENCE);
  expect((await receipts()).toSorted()).toEqual([...memoryIds].toSorted());
};
