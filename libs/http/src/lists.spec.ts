import type { Caller } from '@app/access';
import { InstanceSecret } from '@app/kernel';
import { JsonText } from './json-text';
import { Lists, pageOf } from './lists';

const caller = { actor: 'user-1' } as Caller;
const lists = new Lists(new InstanceSecret(Buffer.alloc(32)));
const answer = (items: readonly JsonText[]) => lists.answer('agents', caller, { limit: 50 }, items, null);
const item = (length: number) => new JsonText(JSON.stringify({ text: 'x'.repeat(length) }));

describe('the answer of a list', () => {
  it('is made once for the same items', () => {
    const items = [item(10), item(20)];
    expect(answer(items)).toBe(answer(items));
    expect(answer([...items, item(30)])).not.toBe(answer(items));
  });

  it('holds no more bytes than it sends', () => {
    const { payload, text } = answer([item(20_000)]);
    expect((payload as Buffer).buffer.byteLength).toBe(Buffer.byteLength(text));
  });

  it('goes when many others were asked for, though their items stay', () => {
    const first = [item(1_000_000)];
    const kept = answer(first);
    const others = Array.from({ length: 40 }, () => [item(1_000_000)]);
    for (const each of others) answer(each);
    expect(answer(first)).not.toBe(kept);
    expect(answer(first).text).toBe(kept.text);
  });
});

describe('a page of what was found', () => {
  const page = (found: readonly string[], limit: number) => pageOf(found, limit, (key) => ({ values: [], key }));

  it('begins the next one behind its last item where more was found than is asked for', () => {
    expect(page(['a', 'b', 'c'], 2)).toEqual({ items: ['a', 'b'], next: { values: [], key: 'b' } });
  });

  it('is the last one otherwise, also where it is full or empty', () => {
    expect(page(['a', 'b'], 2)).toEqual({ items: ['a', 'b'], next: null });
    expect(page([], 2)).toEqual({ items: [], next: null });
  });
});
