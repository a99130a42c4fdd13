import { text as readWhole } from 'node:stream/consumers';
import type { AnsweredTurn, MessagePart } from '@app/conversations';
import { Turn } from '@app/conversations';
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { parsePlace } from './stream-place';
import { type StreamParts, uiMessageStream } from './ui-message-stream';

const conversationId = '01900000-0000-7000-8000-00000000000c';
const answerId = '01900000-0000-7000-8000-00000000000a';
const parts: StreamParts = { settled: () => Promise.resolve(), shown: (part) => Promise.resolve(part) };
const said = (text: string): MessagePart => ({ type: 'text', text });

type Status = AnsweredTurn['answer']['status'];
/** An answer that says these one after another, and ends so. */
const turnOf = (stages: readonly (readonly MessagePart[])[], status: Status = 'complete') =>
  new Turn<AnsweredTurn>(conversationId, answerId, async (tell) => {
    for (const stage of stages) {
      tell(stage);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const answer = { answerId, parts: stages.at(-1) ?? [], status, finishReason: 'stop', model: 'm', usage: null };
    return { conversationId, parentId: answerId, answer } as AnsweredTurn;
  });

interface Event {
  readonly id: string;
  readonly chunk: UIMessageChunk;
}
/** The events of a stream, as plain fetch reads them, without its end. */
const eventsOf = async (turn: Turn<AnsweredTurn>, after?: string): Promise<readonly Event[]> => {
  const body = await readWhole(uiMessageStream(turn, parts, after === undefined ? undefined : parsePlace(after)));
  expect(body.trimEnd().endsWith('data: [DONE]')).toBe(true);
  return [...body.matchAll(/^id: (.+)\ndata: (\{.+)$/gm)].map(([, id, data]) => ({
    id: id as string,
    chunk: JSON.parse(data as string) as UIMessageChunk,
  }));
};
/** What the AI SDK makes of events, going on with a message; undefined for none. */
const read = async (events: readonly Event[], message?: UIMessage): Promise<UIMessage | undefined> => {
  const stream = new ReadableStream<UIMessageChunk>({
    start: (controller) => {
      for (const { chunk } of events) controller.enqueue(chunk);
      controller.close();
    },
  });
  let last = message;
  const given = message === undefined ? {} : { message };
  for await (const next of readUIMessageStream({ stream, ...given, terminateOnError: true })) last = next;
  return last;
};
const textOf = (message: UIMessage | undefined): string =>
  (message?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('|');
const types = (events: readonly Event[]) => events.map(({ chunk }) => chunk.type);

describe('a stream that is resumed', () => {
  it('goes on behind every event, however the words were cut', async () => {
    const stages = [[said('Half')], [said('Half an ')], [said('Half an answer.')]];
    const whole = await eventsOf(turnOf(stages));
    const expected = textOf(await read(whole));
    expect(expected).toBe('Half an answer.');
    for (const [index, { id }] of whole.entries())
      for (const again of [turnOf(stages), turnOf([stages.at(-1) ?? []])]) {
        const events = [...whole.slice(0, index + 1), ...(await eventsOf(again, id))];
        expect(textOf(await read(events))).toBe(expected);
      }
  });

  it.each<[string, readonly MessagePart[]]>([
    ['said', [said('Another answer, which is longer.')]],
    ['said in fewer words', [said('No.')]],
    ['thought before the same words', [{ type: 'reasoning', text: 'Hm.' }, said('Half of it. And more.')]],
  ])(
    'behind words that were taken back is an error, and whole from its beginning: what was %s instead',
    async (_, now) => {
      // Of a provider that broke off and was asked again, while somebody followed by another process.
      const taken = [[said('Half ')], [said('Half of ')], [said('Half of it.')]];
      const before = (await eventsOf(turnOf(taken, 'stopped'))).filter(({ chunk }) => chunk.type === 'text-delta');
      expect(before).toHaveLength(3);
      for (const { id, chunk } of before) {
        for (const stages of [[now], [[], now.slice(0, 1), now]]) {
          const resumed = await eventsOf(turnOf(stages), id);
          expect(types(resumed)).toEqual(['error']);
          expect([resumed[0]?.id, resumed[0]?.chunk]).toEqual([id, { type: 'error', errorText: 'upstream_error' }]);
          // Whoever resumes once more hears the same.
          expect(await eventsOf(turnOf(stages), resumed[0]?.id)).toEqual(resumed);
          const half = await read([
            { id, chunk: { type: 'text-start', id: (chunk as { id: string }).id } },
            { id, chunk },
          ]);
          await expect(read(resumed, half)).rejects.toThrow('upstream_error');
          const words = now.flatMap((part) => (part.type === 'text' ? [part.text] : []));
          const anew = await read(await eventsOf(turnOf(stages)));
          expect(textOf(anew)).toBe(words.join('|'));
        }
      }
    },
  );

  it('waits until the answer has come to where its reader is', async () => {
    const stages = [[said('Half')], [said('Half of')], [said('Half of it.')]];
    const behind = (await eventsOf(turnOf([stages.at(-2) ?? []], 'stopped'))).find(
      ({ chunk }) => chunk.type === 'text-delta',
    );
    const resumed = await eventsOf(turnOf(stages), behind?.id);
    expect(resumed.map(({ chunk }) => ('delta' in chunk ? chunk.delta : chunk.type))).toEqual([
      ' it.',
      'text-end',
      'finish-step',
      'finish',
    ]);
  });

  it('believes ids of earlier versions, which do not say what was heard', async () => {
    const resumed = await eventsOf(turnOf([[said('Half of it.')]]), `${answerId}.0.1.4`);
    expect(resumed.map(({ chunk }) => ('delta' in chunk ? chunk.delta : chunk.type))[0]).toBe(' of it.');
  });
});
