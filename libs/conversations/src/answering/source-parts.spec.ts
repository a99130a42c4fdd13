import fc from 'fast-check';
import { processorTime } from '../../../../test/fixtures/processor-time';
import { quoteFor } from './source-parts';
import { sourceParts } from './source-parts';
import type { RetrievedPassage } from './retriever';

const TEXT = 'The log holds events. Each document is encrypted under its own data key. Backups never contain the keys.';
const passage = (given: Partial<Omit<RetrievedPassage, 'chunks'>> = {}): RetrievedPassage => {
  const whole = { ...PASSAGE, ...given };
  const { chunkId, text, start, end } = whole;
  return { ...whole, chunks: [{ chunkId, text, start, end }] };
};

const PASSAGE = {
  documentId: '01900000-0000-7000-8000-000000000001',
  documentName: 'handbook.md',
  documentRevision: 4,
  mediaType: 'text/markdown',
  chunkId: 'c1',
  text: TEXT,
  headings: ['Handbook', 'Keys'],
  start: 100,
  end: 100 + TEXT.length,
};

it('name the chunk of a joined passage that supports the statement', () => {
  const [first, second] = ['Backups run at night.', 'Each document is encrypted under its own data key.'];
  const joined: RetrievedPassage = {
    ...passage({ text: `${first}\n${second}` }),
    chunks: [
      { chunkId: 'c1', text: first, start: 100, end: 121 },
      { chunkId: 'c2', text: second, start: 123, end: 173 },
    ],
  };
  const answer = 'Every document is encrypted with a key of its own [1].';
  expect(sourceParts(answer, [{ number: 1, source: 1, at: answer.indexOf('[1]') }], [joined])).toMatchObject([
    { sourceId: 'c2', quote: second, position: { start: 123, end: 173 } },
  ]);
});

it('quote whole letters where a passage has no sentence', () => {
  const text = `# a${'\u{1f600}'.repeat(600)}`;
  const [part] = sourceParts('It smiles [1].', [{ number: 1, source: 1, at: 10 }], [passage({ text })]);
  expect(part?.quote.length).toBeGreaterThan(300);
  expect(part?.quote.isWellFormed()).toBe(true);
});

describe('the sources of an answer', () => {
  it('quote the sentence that supports the statement before the mark, and say where it stands', () => {
    const answer = 'I looked it up. Every document is encrypted with a key of its own [1].';
    const quote = 'Each document is encrypted under its own data key.';
    expect(sourceParts(answer, [{ number: 1, source: 1, at: answer.indexOf('[1]') }], [passage()])).toEqual([
      {
        type: 'source-document',
        sourceId: 'c1',
        documentId: '01900000-0000-7000-8000-000000000001',
        documentRevision: 4,
        chunkHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        title: 'handbook.md',
        mediaType: 'text/markdown',
        position: { start: 100 + TEXT.indexOf(quote), end: 100 + TEXT.indexOf(quote) + quote.length, heading: 'Keys' },
        quote,
      },
    ]);
  });

  it.each([
    [
      '登录需要使用API密钥',
      '系统每天备份一次数据库。用户登录需要API密钥。管理员可以删除所有文档。',
      '用户登录需要API密钥。',
    ],
    ['APIの使い方', '毎日バックアップします。APIは鍵で使います。', 'APIは鍵で使います。'],
    ['API 사용 방법', '시스템은 매일 백업됩니다. 사용자는 API를 사용합니다.', '사용자는 API를 사용합니다.'],
  ])('quote the sentence that supports %s in a script without spaces', (statement, text, sentence) => {
    const quote = quoteFor(statement, text);
    expect(text.slice(quote?.start, quote?.end)).toBe(sentence);
  });

  it('are the cited ones only, each once, in order of first use', () => {
    const passages = [passage({ chunkId: 'c1' }), passage({ chunkId: 'c2' }), passage({ chunkId: 'c3' })];
    const citations = [
      { number: 1, source: 3, at: 2 },
      { number: 2, source: 1, at: 6 },
      { number: 1, source: 3, at: 12 },
    ];
    expect(sourceParts('B [1] A [2] B [1]', citations, passages).map(({ sourceId }) => sourceId)).toEqual(['c3', 'c1']);
  });

  it('cost no more for a source that is cited thousands of times', () => {
    const citations = Array.from({ length: 20_000 }, (_, index) => ({ number: 1, source: 1, at: 60 * index + 50 }));
    const answer = 'Each document is encrypted under a key of its own [1]. '.repeat(22_000);
    const spent = processorTime();
    expect(sourceParts(answer, citations, [passage()])).toMatchObject([
      { quote: 'Each document is encrypted under its own data key.' },
    ]);
    expect(spent()).toBeLessThan(300);
  });
});

it('quotes verbatim, at most 400 characters, for any passage and statement', () => {
  const unit = fc.constantFrom('Log ', 'key ', 'data. ', '\n', '\n# Head\n', '- item ', 'x'.repeat(300), '| a |\n');
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 20 }), fc.array(unit, { maxLength: 5 }), (passageParts, statement) => {
      const text = passageParts.join('');
      const quote = quoteFor(statement.join(''), text);
      if (quote === undefined) return;
      const words = text.slice(quote.start, quote.end);
      expect(words.length).toBeGreaterThan(0);
      expect(words.length).toBeLessThanOrEqual(400);
      expect(words).not.toMatch(/^# Head/m);
    }),
  );
});
