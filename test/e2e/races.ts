import { until } from '../fixtures/until';
import type { Ask, Request } from './asking';

/** Races over HTTP: two requests at once for what only one may get. */

const CORE = '/api/v1/core';
/** Pairs that race at the same time, each lane for aggregates of its own. */
const LANES = 4;

interface Answered {
  readonly status: number;
  readonly body: { readonly id?: string; readonly code?: string } | undefined;
}

type Pair = readonly [Request, Request];

interface Race {
  readonly name: string;
  /** How the two are answered, the one that comes first in the alphabet first: as the first of these, or as one of the others. */
  readonly outcomes: readonly (readonly [string, string])[];
  /** Prepares what a lane needs, and gives the requests of each round of all lanes; `turn` counts those of this one. */
  readonly lane: (ask: Ask, lane: number) => Promise<(round: number, turn: number) => Promise<Pair>>;
}

const post = (path: string, body: unknown, headers?: Request['headers']): Request => ({
  path: `${CORE}${path}`,
  method: 'POST',
  body,
  ...(headers && { headers }),
});
const put = (path: string, body: unknown, revision?: number): Request => ({
  path: `${CORE}${path}`,
  method: 'PUT',
  body,
  ...(revision !== undefined && { headers: { 'if-match': `"${revision}"` } }),
});

const stream = async (ask: Ask, request: Request): Promise<{ readonly id: string; readonly revision: number }> => {
  const { status, body } = await ask<{ readonly id?: string; readonly revision?: number }>(request);
  const { id, revision } = body;
  if (id === undefined || revision === undefined)
    throw new Error(`${request.method} ${request.path}: ${status} ${JSON.stringify(body)}`);
  return { id, revision };
};
const made = async (ask: Ask, request: Request): Promise<string> => (await stream(ask, request)).id;

const TAKEN = [['201', '409 name_taken']] as const;
const OVERTAKEN = [['200', '412 precondition_failed']] as const;

export const races: readonly Race[] = [
  {
    name: 'the slug of a Space',
    outcomes: TAKEN,
    lane: async (_ask, lane) => async (round) => [
      post('/spaces', { name: `One ${lane}/${round}`, slug: `slug-${lane}-${round}` }),
      post('/spaces', { name: `Other ${lane}/${round}`, slug: `slug-${lane}-${round}` }),
    ],
  },
  {
    name: 'the name of a Space',
    outcomes: TAKEN,
    lane: async (_ask, lane) => async (round) => [
      post('/spaces', { name: `Named ${lane}/${round}` }),
      post('/spaces', { name: `Named ${lane}/${round}` }),
    ],
  },
  {
    name: 'a mail address',
    outcomes: TAKEN,
    lane: async (_ask, lane) => async (round) => [
      post('/users', { email: `race-${lane}-${round}@example.com`, name: 'One', role: 'member' }),
      post('/users', { email: `Race-${lane}-${round}@example.com`, name: 'Other', role: 'member' }),
    ],
  },
  {
    name: 'the name of a tag',
    outcomes: TAKEN,
    lane: async (ask, lane) => {
      const spaceId = await made(ask, post('/spaces', { name: `Tags ${lane}` }));
      const agentId = await made(ask, post('/agents', { spaceId, name: 'Guide' }));
      return async (round) => [
        post(`/knowledge/${agentId}/tags`, { name: `Tag ${round}` }),
        post(`/knowledge/${agentId}/tags`, { name: `tag ${round}` }),
      ];
    },
  },
  {
    name: 'the next revision of a prompt',
    outcomes: OVERTAKEN,
    lane: async (ask, lane) => {
      const spaceId = await made(ask, post('/spaces', { name: `Prompts ${lane}` }));
      const { id, revision } = await stream(
        ask,
        post(`/spaces/${spaceId}/prompts`, { title: 'Prompt', text: 'first' }),
      );
      const change = (text: string, turn: number): Request =>
        put(`/spaces/${spaceId}/prompts/${id}`, { text }, revision + turn);
      return async (round, turn) => [change(`one ${round}`, turn), change(`other ${round}`, turn)];
    },
  },
  {
    name: 'the last ownership of a Space',
    outcomes: [['200', '409 last_owner']],
    lane: async (ask, lane) => {
      const spaceId = await made(ask, post('/spaces', { name: `Members ${lane}` }));
      const owners = [
        await made(ask, post('/users', { email: `owner-${lane}@example.com`, name: 'Owner', role: 'member' })),
      ];
      // A view may be seconds behind on a busy machine.
      await until(async () => {
        const { body } = await ask<{ readonly items?: readonly { readonly userId: string }[] }>({
          path: `${CORE}/spaces/${spaceId}/members`,
          method: 'GET',
        });
        owners.push(...(body.items ?? []).map(({ userId }) => userId));
        return owners.length > 1;
      }, 'the creator among the members');
      const member = (userId: string | undefined, role: string): Request =>
        put(`/spaces/${spaceId}/members/${userId}`, { role });
      return async () => {
        for (const userId of owners) await ask(member(userId, 'owner'));
        return [member(owners[0], 'editor'), member(owners[1], 'editor')];
      };
    },
  },
  {
    name: 'the next revision of an API key',
    outcomes: OVERTAKEN,
    lane: async (ask, lane) => {
      const { id, revision } = await stream(
        ask,
        post('/api-keys', { name: `key ${lane}`, agentIds: [], permissions: ['agents:read'] }),
      );
      const change = (name: string, turn: number): Request => put(`/api-keys/${id}`, { name }, revision + turn);
      return async (round, turn) => [change(`one ${round}`, turn), change(`other ${round}`, turn)];
    },
  },
  {
    name: 'an Idempotency-Key',
    outcomes: [
      ['201', '409 request_in_progress'],
      ['201', '201'],
    ],
    lane: async (_ask, lane) => async (round) => {
      const request = post(
        '/spaces',
        { name: `Once ${lane}/${round}` },
        { 'idempotency-key': `once-${lane}-${round}` },
      );
      return [request, request];
    },
  },
];

const outcomeOf = ({ status, body }: Answered): string =>
  status < 300 ? String(status) : `${status} ${body?.code ?? ''}`;

/** Lets so many pairs race, the two of each at two API processes where there are two. Whoever won is known to the other process: who asks again for what is gone is told the same. */
export const race = async ({ outcomes, lane }: Race, asks: readonly [Ask, Ask], pairs: number): Promise<void> => {
  const seen = new Map<string, number>();
  let round = 0;
  const run = async (number: number): Promise<void> => {
    const next = await lane(asks[0], number);
    for (let own = 0; round < pairs; own += 1) {
      const turn = (round += 1);
      const pair = await next(turn, own);
      const answers = await Promise.all(
        pair.map((request, index) => (asks[(index + turn) % 2] as Ask)<Answered['body']>(request)),
      );
      const told = answers.map(outcomeOf).toSorted().join(', ');
      seen.set(told, (seen.get(told) ?? 0) + 1);
      const lost = answers.findIndex(({ status }) => status >= 300);
      const again = outcomeOf(await (asks[turn % 2] as Ask)<Answered['body']>(pair[Math.max(lost, 0)] as Request));
      const expected = new Set(answers.map(outcomeOf));
      if (!expected.has(again)) seen.set(`asked again: ${again}`, (seen.get(`asked again: ${again}`) ?? 0) + 1);
      const ids = new Set(
        answers.flatMap(({ status, body }) => (status === 201 && body?.id !== undefined ? [body.id] : [])),
      );
      if (ids.size > 1) seen.set('two winners', (seen.get('two winners') ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: LANES }, (_, number) => run(number)));
  const allowed = outcomes.map((pair) => pair.join(', '));
  expect(
    [...seen.keys()].filter((told) => !allowed.includes(told)).map((told) => `${told}: ${seen.get(told)} of ${pairs}`),
  ).toEqual([]);
  expect([...seen.values()].reduce((sum, count) => sum + count, 0)).toBe(pairs);
};
