import fc from 'fast-check';
import { continuationOf, continued, takesBack } from './continuation';
import { type MessagePart, textOf } from './message-parts';

const part = fc.oneof(
  fc.record({ type: fc.constantFrom('text' as const, 'reasoning' as const), text: fc.string({ maxLength: 4 }) }),
  fc.constant({ type: 'step-start' as const }),
  fc.record({
    type: fc.constant('tool' as const),
    toolName: fc.constant('t'),
    toolCallId: fc.constantFrom('1', '2'),
    state: fc.constantFrom('input-available' as const, 'output-error' as const),
    input: fc.constant(null),
  }),
);
const parts: fc.Arbitrary<readonly MessagePart[]> = fc.array(part, { maxLength: 5 });
/** What an answer has later, where it has something now. */
const grown = fc.tuple(parts, parts, fc.string()).map(([before, more, text]) => {
  const last = before.at(-1);
  const on =
    last !== undefined && 'text' in last ? [...before.slice(0, -1), { ...last, text: last.text + text }] : before;
  return [before, [...on, ...more]] as const;
});

describe('a continuation', () => {
  it('makes what is of what was', () =>
    fc.assert(
      fc.property(grown, ([before, after]) => {
        const more = continuationOf(before, after);
        expect(more === undefined ? before : continued(before, more)).toEqual(after);
      }),
    ));

  it('changes nothing where it was applied, or where it would leave a gap', () =>
    fc.assert(
      fc.property(parts, fc.nat(6), fc.nat(4), parts, (before, at, offset, more) => {
        const once = continued(before, { part: at, offset, parts: more });
        expect(continued(once, { part: at, offset, parts: more })).toBe(once);
        if (at > before.length) expect(once).toBe(before);
      }),
    ));

  it('holds of a text that went on what is new alone', () => {
    const [source, text] = [{ type: 'step-start' as const }, (said: string) => ({ type: 'text' as const, text: said })];
    expect(continuationOf([source, text('Half an ')], [source, text('Half an answer.'), source])).toEqual({
      part: 1,
      offset: 8,
      parts: [text('answer.'), source],
    });
    expect(continuationOf([text('Half')], [text('Half')])).toBeUndefined();
  });

  it('does not go on with words of another kind, nor behind words that are missing', () => {
    const before = [{ type: 'text' as const, text: 'Half' }];
    for (const [type, offset] of [
      ['reasoning', 4],
      ['text', 5],
    ] as const)
      expect(continued(before, { part: 0, offset, parts: [{ type, text: ' an answer' }] })).toBe(before);
  });

  it('takes back words that are others, and not what went on', () => {
    const text = (said: string) => ({ type: 'text' as const, text: said });
    const [before, call] = [[text('Half an ')], { type: 'step-start' as const }];
    expect([text('Half an answer'), text('Half an ')].some((after) => takesBack(before, [after, call]))).toBe(false);
    expect(takesBack([...before, call], [...before, text('More')])).toBe(false);
    expect(takesBack(before, [text('Half')])).toBe(true);
    expect(takesBack(before, [call, ...before])).toBe(true);
    expect(takesBack([], before)).toBe(false);
    expect(takesBack([text('')], [call])).toBe(false);
  });
});

it('the text of a message has nothing of its reasoning, whose words go on as others do', () => {
  const [text, reasoning] = [
    { type: 'text' as const, text: 'Half an ' },
    { type: 'reasoning' as const, text: 'Hm.' },
  ];
  expect(textOf([text, reasoning, { type: 'text', text: 'Done.' }])).toBe('Half an \n\nDone.');
  expect(takesBack([reasoning], [text])).toBe(true);
  expect(continuationOf([reasoning], [{ ...reasoning, text: 'Hm. So.' }])).toMatchObject({ offset: 3 });
});
