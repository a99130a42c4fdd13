import { Decisions } from '@app/kernel';
import {
  endTurns,
  meta,
  PARTICIPANTS,
  question,
  saysHalf,
  scriptedTurns,
} from '../../../../test/fixtures/scripted-turns';
import { conversationDecider } from '../conversation/conversation.decider';
import type { MessagePart } from '../conversation/message-parts';
import { beginningWithin, bytesOf, MOST_ANSWER_BYTES, partsWithin } from './answer-size';
import { fitting } from './tool-calls';

afterEach(endTurns);

it.each(['x', 'ü', '🚢', '\u0001', '"'])(
  'the beginning of a text of %j takes so many bytes as JSON, and not many fewer',
  (of) => {
    const text = of.repeat(10_000);
    const cut = beginningWithin(text, 5_000);
    expect(text.startsWith(cut.replace(/\ufffd$/, ''))).toBe(true);
    expect(bytesOf(cut)).toBeLessThanOrEqual(5_000);
    expect(bytesOf(cut)).toBeGreaterThan(4_900);
    expect(beginningWithin(text, 1_000_000)).toBe(text);
    expect(beginningWithin(text, 0)).toBe('');
  },
);

it('parts that fit stay as they are; of others the beginning stays', () => {
  const parts: readonly MessagePart[] = [
    { type: 'reasoning', text: 'Hm.' },
    { type: 'text', text: 'x'.repeat(1_000) },
    { type: 'step-start' },
  ];
  expect(partsWithin(parts)).toEqual(parts);
  const cut = partsWithin(parts, 500);
  expect(cut).toMatchObject([{ text: 'Hm.' }, { type: 'text', text: expect.stringMatching(/^x{400,}$/) as string }]);
  expect(cut.reduce((sum, part) => sum + bytesOf(part), 0)).toBeLessThanOrEqual(500);
});

it('what tools give fits as it is kept, too', () => {
  const output = '\u0001'.repeat(150_000);
  const end = { fields: { state: 'output-available' as const, output }, passages: [] };
  expect(bytesOf(fitting(end, []).fields.output)).toBeLessThan(MOST_ANSWER_BYTES);
});

it('an answer of which more was saved than fits into its end is closed with its beginning, and its branch is free', async () => {
  const here = scriptedTurns();
  here.chat.script = saysHalf;
  const { conversationId, answerId } = await here.turns.ask(question('What?'), meta());
  const decisions = new Decisions(here.log, here.codec);
  for (let part = 0; part < 3; part += 1) {
    const parts = [{ type: part === 1 ? 'reasoning' : 'text', text: 'x'.repeat(400_000) } as const];
    const more = { type: 'Continue' as const, answerId, part, offset: 0, parts };
    await decisions.transact(conversationDecider, conversationId, more, meta());
  }
  const other = here.process();
  // As if the process had died that made it.
  here.clock.advance(60_000);
  await other.closeAbandonedTurns();
  const { answer } = await other
    .resume(PARTICIPANTS, conversationId, answerId, meta())
    .then(({ finished }) => finished);
  expect(answer).toMatchObject({ status: 'failed', parts: [{ type: 'text' }, { type: 'reasoning' }] });
  expect(bytesOf(answer.parts)).toBeLessThan(MOST_ANSWER_BYTES + 100);
});
