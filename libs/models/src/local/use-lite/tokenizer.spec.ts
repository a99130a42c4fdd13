import { processorTime } from '../../../../../test/fixtures/processor-time';
import { Tokenizer } from './tokenizer';
import { readVocabulary } from './weights';

const made = readVocabulary().then((vocabulary) => new Tokenizer(vocabulary));
const LIMIT = 128;

describe('the tokenizer', () => {
  it('gives a text without spaces no more tokens than a long word has, whatever it is made of', async () => {
    const tokenizer = await made;
    const pieces = [...'abcdefghijklmnopqrstuvwxyz0123456789'];
    const mixed = Array.from({ length: 1_200 }, (_, index) => pieces[(index * index + 7 * index) % pieces.length]).join(
      '',
    );
    for (const text of [
      'a'.repeat(1_200),
      mixed,
      'a.'.repeat(600),
      '{"id":1,"ok":true},'.repeat(60),
      '\u79c1a'.repeat(600),
    ]) {
      expect(tokenizer.encode(text, LIMIT).length).toBeLessThanOrEqual(16);
    }
  });

  it('gives the words beside a long one all of theirs', async () => {
    const tokenizer = await made;
    const sentence = 'Each document has a key of its own, and Donaudampfschifffahrtsgesellschaft is a word.';
    const alone = tokenizer.encode(sentence, LIMIT);
    expect(alone.length).toBeGreaterThan(16);
    const beside = tokenizer.encode(`${'x7'.repeat(300)} ${sentence}`, LIMIT);
    expect(beside.slice(-alone.length)).toEqual(alone);
    expect(beside.length - alone.length).toBeLessThanOrEqual(16);
  });

  it('looks at the beginning of a text alone, however long it is', async () => {
    const tokenizer = await made;
    const spent = processorTime();
    expect(tokenizer.encode('word '.repeat(4_000_000), LIMIT)).toHaveLength(LIMIT);
    expect(spent()).toBeLessThan(500);
  });
});
