import {
  ask,
  type Message,
  messagesOf,
  platform,
  says,
  saysAndWaits,
  send,
  type Turn,
  upstream,
  withConversations,
} from './conversations-world';
import { until } from '../fixtures/until';

/** One more answer to a question that is in memory alone. */

withConversations();

const again = ({ conversationId }: Turn, id: string, body: object = {}, call: object = {}) =>
  send<Turn & { code: string }>(body, { path: `/${conversationId}/messages/${id}/regenerate`, ...call });
const answersOf = async ({ conversationId }: Turn): Promise<readonly Message[]> =>
  (await messagesOf(conversationId)).filter(({ role }) => role === 'assistant');

it('stands beside the others, is asked for by the question or an answer, and made from what came before it', async () => {
  upstream.behaviour = says('A.');
  const turn = await ask('Why?', { kind: 'incognito' });
  const { id, parentId } = turn.message;
  upstream.behaviour = says('B.');
  const headers = { 'idempotency-key': 'again' };
  const second = await again(turn, parentId as string, {}, { headers });
  expect(second).toMatchObject({ status: 200, body: { message: { parentId } } });
  expect((await again(turn, parentId as string, {}, { headers })).text).toBe(second.text);
  expect((await again(turn, id, { stream: true })).text).toContain('B.');
  expect((await answersOf(turn)).map(({ parts }) => parts)).toMatchObject([
    [{ text: 'B.' }],
    [{ text: 'B.' }],
    [{ text: 'A.' }],
  ]);
  // No answer stands before its sibling.
  expect(upstream.calls.at(-1)?.body['messages']).toEqual([{ role: 'user', content: 'Why?' }]);
  // A question goes on from the answer that was begun last.
  const next = await ask('And then?', { conversationId: turn.conversationId });
  expect((await messagesOf(turn.conversationId)).find((message) => message.id === next.message.parentId)).toMatchObject(
    {
      parentId: (await answersOf(turn))[1]?.id,
    },
  );
});

it('is rejected for what is unknown, for strangers, and while one is made', async () => {
  upstream.behaviour = says('A.');
  const turn = await ask('Why?', { kind: 'incognito' });
  const { id } = turn.message;
  expect((await again(turn, turn.conversationId)).status).toBe(404);
  expect((await again(turn, id, { model: 'nothing' })).body).toMatchObject({ code: 'model_not_available' });
  expect((await again(turn, id, {}, { key: (await platform.newCaller()).key })).status).toBe(404);
  const { finish } = saysAndWaits('Half');
  const open = again(turn, id);
  await until(async () => (await answersOf(turn)).length === 2, 'the second answer');
  expect((await again(turn, id)).body).toMatchObject({ code: 'turn_in_progress' });
  finish();
  expect((await open).status).toBe(200);
  expect(await answersOf(turn)).toHaveLength(2);
});
