import { bytesOf, MOST_ANSWER_BYTES } from '../../libs/conversations/src/answering/answer-size';
import { chunk, DONE, events, usageChunk } from '../fixtures/upstream-double';
import { ask, messagesOf, says, send, upstream, withConversations } from './conversations-world';

withConversations();

const many = (count: number, delta: (index: number) => object): readonly object[] =>
  Array.from({ length: count }, (_, index) => chunk(delta(index)));
const call = (index: number, length: number) => ({
  tool_calls: [
    { index, id: `c${index}`, function: { name: 'f', arguments: JSON.stringify({ a: 'x'.repeat(length) }) } },
  ],
});

/** What a model that runs on sends, and of which kind the parts are that stay of it. */
const RUNAWAYS: readonly (readonly [name: string, sent: () => readonly object[], types: readonly string[]])[] = [
  ['words', () => many(30, () => ({ content: 'word '.repeat(10_000) })), ['text']],
  ['thoughts', () => many(30, () => ({ reasoning: 'Hm… '.repeat(10_000) })), ['reasoning']],
  ['words that are longer as they are kept', () => many(30, () => ({ content: '\u0001'.repeat(10_000) })), ['text']],
  [
    'words and thoughts by turns',
    () => many(40_000, (at) => ({ [at % 2 ? 'content' : 'reasoning']: 'x' })),
    ['reasoning', 'text'],
  ],
  ['calls', () => many(100, (at) => call(at, 50_000)), ['tool']],
];

it.each(RUNAWAYS)(
  'an answer of endless %s ends as failed with what fits, and its conversation goes on',
  async (_, sent, types) => {
    upstream.behaviour = (response) => void events(response, ...sent(), chunk({}, 'stop'), usageChunk(), DONE).end();
    const answer = await send<{ code: string; conversationId: string }>({ message: 'Go on and on.' });
    expect([answer.status, answer.body.code]).toEqual([502, 'upstream_error']);
    const { conversationId } = answer.body;
    const [said] = await messagesOf(conversationId);
    expect(said).toMatchObject({ role: 'assistant', status: 'failed' });
    const kinds = said?.parts.map(({ type }) => (type.startsWith('tool-') ? 'tool' : type)) ?? [];
    expect([...new Set(kinds)]).toEqual(types);
    expect(bytesOf(said?.parts)).toBeGreaterThan(MOST_ANSWER_BYTES / 2);
    upstream.behaviour = says('Here I am.');
    expect((await ask('And now?', { conversationId })).message.parts).toEqual([{ type: 'text', text: 'Here I am.' }]);
  },
);
