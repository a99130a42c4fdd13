import type { SearchHit } from '@app/search-index';
import { codesOf, withCodesFirst } from './codes';

const hit = (text: string, score: number, more: Partial<SearchHit> = {}): SearchHit =>
  ({ documentId: text, documentName: 'a.md', chunkId: text, headings: [], text, score, ...more }) as SearchHit;

/** What a query of `code` finds, where the index counts `other` for more than `text`. */
const first = (query: string, text: string, other: string) =>
  withCodesFirst(query, [hit(other, 1), hit(text, 0.8)])[0]?.text;

describe('codes of a query', () => {
  it.each([
    ['Was kostet INV-2024-001?', ['inv-2024-001']],
    ['the (C++) and C#, too', ['c++', 'c#']],
    ['node.js or ＮＯＤＥ.js', ['node.js']],
    ['mail ada@example.com.', ['ada@example.com']],
    ['请使用API-2接口v2.1。', ['api-2', 'v2.1']],
    ['Rechnung vom 15.03.2024, 1.250,00 EUR', ['15.03.2024', '1.250,00']],
    ['INV\u20112024\u20112', ['inv-2024-2']],
    ["state-of-the-art e-mail, O'Brien and/or e.g. z.B. this", []],
    ['2024 C + ++ # ...', []],
    [`${'1.'.repeat(200)}1`, []],
  ])('are told from words: %s', (query, codes) => expect(codesOf(query).map(({ text }) => text)).toEqual(codes));

  it('are eight at most, and take no time where there is none', () => {
    expect(codesOf(Array.from({ length: 1_000 }, (_, at) => `1.${at}`).join(' '))).toHaveLength(8);
    const start = performance.now();
    for (const sign of ['(', '.', '1(', 'a.', '\u0301']) codesOf(`a${sign.repeat(5_000)}a`);
    expect(performance.now() - start).toBeLessThan(1_000);
  });
});

describe('hits of a query with a code', () => {
  it.each([
    ['10.20.30.40', 'at 10.20.30.40:8080', 'at 10.40.30.20'],
    ['10.20.30.4', 'at 10.20.30.4.', 'at 10.20.30.40, 4'],
    ['1.2.3', 'release v1.2.3', 'release 1.2.3.4 and 11.2.3'],
    ['INV-2024-001', 'Rechnung inv\u20112024\u2011001', 'INV-2023-001, 2024 pieces, INV-2024-0011'],
    ['INV-2024-001', 'Rechnung INV2024001.', 'INV-2023-001, 2024 pieces, INV20240011'],
    ['INV-2024-001', 'file inv_2024_001.pdf', 'INV-2023-001, 2024 pieces'],
    ['C++', 'C++17 is here', 'C, and C again'],
    ['what says node.js about it', 'It is node.js-based', 'a node, some js'],
  ])('begin with those that have it: %s', (query, text, other) => expect(first(query, text, other)).toBe(text));

  it('have it in the name of their document or their headings, too', () => {
    const named = hit('a', 0.8, { documentName: 'INV-2024-001.pdf' });
    const headed = hit('b', 0.7, { headings: ['Invoice INV-2024-001'] });
    expect(withCodesFirst('INV-2024-001', [hit('c', 1), named, headed]).map(({ text }) => text)).toEqual([
      'a',
      'b',
      'c',
    ]);
  });

  it('stay as they are where none has it, or the query has none', () => {
    const hits = [hit('x', 1), hit('y', 0.5)];
    expect([withCodesFirst('1.2.3', hits), withCodesFirst('words', hits)]).toEqual([hits, hits]);
  });

  it('move the less the more else is asked', () => {
    const query = 'which old harbour ferries leave at 9.30 daily from the northern island';
    expect(first(query, 'It is 9.30', 'Old harbour ferries leave daily at nine.')).toBe(
      'Old harbour ferries leave daily at nine.',
    );
  });
});
