import type { ModelDescription } from '@app/models';
import { completion, escaped, USAGE } from '../../../../test/fixtures/upstream-double';
import { chatAnswer } from './chat-answer';

const passed = (answer: unknown) =>
  chatAnswer(Buffer.from(JSON.stringify(answer, null, 1)), {} as ModelDescription, { key: 'm', input: 5, id: 'i' })
    .text;
const read = (answer: unknown) => JSON.parse(passed(answer)) as object;
const without = (fields: object, ...names: readonly string[]) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

describe('a whole answer', () => {
  it('passes byte for byte where nothing is missing', () => {
    const whole = completion({ content: 'Hi' }, 'm');
    expect(passed(whole)).toBe(JSON.stringify(whole, null, 1));
  });

  it('of calls alone has content and refusal, which are null', () => {
    const message = {
      role: 'assistant',
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
    };
    const choice = { index: 0, message, finish_reason: 'tool_calls' };
    expect(read(completion({}, 'm', { choices: [choice, choice] }))).toMatchObject({
      choices: [0, 1].map(() => ({ ...choice, message: { ...message, content: null, refusal: null }, logprobs: null })),
      usage: USAGE,
    });
  });

  it.each([
    ['content', { role: 'assistant', refusal: 'No.' }, 'x', { content: null, refusal: 'No.' }],
    ['refusal', { role: 'assistant', content: 'Hi' }, null, { content: 'Hi', refusal: null }],
  ])('without %s has it, and what it has stays', (_, message, logprobs, expected) =>
    expect(
      read(completion({}, 'm', { choices: [{ index: 0, message, logprobs, finish_reason: 'stop' }] })),
    ).toMatchObject({ choices: [{ message: { role: 'assistant', ...expected }, logprobs, finish_reason: 'stop' }] }),
  );

  it.each<[string, object]>([
    ['a tool', { tool_calls: [{ id: 'a', type: 'function', function: { name: 'tool', arguments: '12345678' } }] }],
    [
      'a tool of its own form',
      { tool_calls: [{ id: 'a', type: 'custom', custom: { name: 'tool', input: '12345678' } }] },
    ],
    [
      'nothing, and reasons aloud under the old name and the new',
      { content: null, reasoning: '123456789', reasoning_content: '123456789' },
    ],
    [
      'nothing, and says what it thought and its text as parts',
      {
        content: [
          { type: 'thinking', thinking: [{ type: 'text', text: '12345' }] },
          { type: 'text', text: '6789' },
        ],
      },
    ],
    ['a function, as it was once called', { function_call: { name: 'tool', arguments: '12345678' } }],
  ])('that calls %s is counted where its provider counts nothing', (_, message) => {
    const { known } = chatAnswer(
      Buffer.from(JSON.stringify(completion(message, 'm', { usage: null }))),
      {} as ModelDescription,
      { key: 'm', input: 5, id: 'i' },
    );
    expect([known.source, known.usage.outputTokens]).toEqual(['counted', 3]);
  });

  it('without a head gets one', () => {
    const whole = completion({ content: 'Hi' }, 'm');
    expect(read(without(whole, 'id', 'object', 'created'))).toEqual({
      ...whole,
      id: 'chatcmpl-i',
      created: expect.any(Number),
    });
    expect(read(without(whole, 'object'))).toEqual(whole);
  });

  it('has what clients rely on also where its provider says null, or leaves out what is plain', () => {
    const bare = completion({}, 'm', {
      id: null,
      created: null,
      object: null,
      choices: [{ message: { content: 'Hi' } }, { message: { content: 'Ho' } }],
    });
    const message = { role: 'assistant', refusal: null };
    expect(read(bare)).toMatchObject({
      id: 'chatcmpl-i',
      object: 'chat.completion',
      created: expect.any(Number),
      choices: [
        { index: 0, message: { ...message, content: 'Hi' }, logprobs: null, finish_reason: null },
        { index: 1, message: { ...message, content: 'Ho' }, logprobs: null, finish_reason: null },
      ],
    });
  });

  it.each(['m', 'acme-1'])('may begin with a byte order mark, which is not passed on (%s)', (model) => {
    const whole = completion({ content: 'Hü' }, 'm');
    const { text } = chatAnswer(Buffer.from(`\ufeff${JSON.stringify({ ...whole, model })}`), {} as ModelDescription, {
      key: 'm',
      input: 5,
      id: 'i',
    });
    expect(JSON.parse(Buffer.from(text, 'latin1').toString())).toEqual(whole);
  });

  it('says the same however its provider writes characters', () => {
    const said = 'Grüße • 你好 🙂 \\u2022';
    const answer = completion({ content: said }, 'acmé');
    const written = Buffer.from(escaped(JSON.stringify(answer)));
    const { text } = chatAnswer(written, {} as ModelDescription, { key: 'm', input: 5, id: 'i' });
    expect(JSON.parse(Buffer.from(text, 'latin1').toString())).toEqual({ ...answer, model: 'm' });
    // Half of what it says is escaped, half is not.
    const mixed = Buffer.from(JSON.stringify(answer).replace('ü', '\\u00fc').replace('•', '\\u2022'));
    expect(
      JSON.parse(
        Buffer.from(
          chatAnswer(mixed, {} as ModelDescription, { key: 'ö', input: 5, id: 'i' }).text,
          'latin1',
        ).toString(),
      ),
    ).toEqual({ ...answer, model: 'ö' });
  });

  it.each([
    {},
    { choices: [] },
    { choices: [{ index: 0 }] },
    { choices: [{ message: {} }, 1] },
    { error: {}, choices: [{ message: {} }] },
    5,
  ])('is none where it is %j', (answer) => expect(() => passed(answer)).toThrow('broken'));

  it('that is nested too deeply to be written anew is none', () => {
    const deep = `${'{"0":'.repeat(200_000)}1${'}'.repeat(200_000)}`;
    const answer = Buffer.from(`{"choices":[{"message":{"content":"Hi"}}],"deep":${deep}}`);
    expect(() => chatAnswer(answer, {} as ModelDescription, { key: 'm', input: 5, id: 'i' })).toThrow('broken');
  });
});
