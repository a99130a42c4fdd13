import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readCollection } from './collection';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'collection-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const write = (files: Readonly<Record<string, string>>): void => {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
};
const BEIR = {
  'corpus.jsonl': '{"_id":"d1","title":"Zebras","text":"They sleep."}\n{"_id":"d2","text":"No title."}\n',
  'queries.jsonl': '{"_id":"q1","text":"sleep"}\n{"_id":"q2","text":"nobody judged this"}\n',
  'qrels/test.tsv': 'query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\n',
};
const TREC = {
  'documents.xml': `<?xml version="1.0"?><xml><doc>
<docno>
1
</docno><title>wings &amp; flow</title><author>x</author><text>
Lift of a <b>wing</b>, &lt; 1.
</text></doc><DOC><DOCNO>2</DOCNO><TEXT>Second.</TEXT></DOC></xml>`,
  'topics.xml': `<top>
<num> Number: 001
<title> Topic: lift of wings
<desc> Description: What is it?
</top>
<top><num>2</num><title></title><desc>second</desc></top>`,
  'qrels.txt': '1 0 1 3\n1 0 2 -1\n2 0 2 1\n',
};

describe('a test collection', () => {
  it('in the form of BEIR has its documents and judged queries', () => {
    write(BEIR);
    expect(readCollection(folder)).toEqual({
      documents: [
        { id: 'd1', title: 'Zebras', text: 'They sleep.' },
        { id: 'd2', title: '', text: 'No title.' },
      ],
      queries: [{ id: 'q1', text: 'sleep', relevant: new Map([['d1', 2]]) }],
    });
  });

  it('in the form of TREC is read whatever its case, markup, open elements and leading zeros', () => {
    write(TREC);
    expect(readCollection(folder)).toEqual({
      documents: [
        { id: '1', title: 'wings & flow', text: 'Lift of a wing , < 1.' },
        { id: '2', title: '', text: 'Second.' },
      ],
      queries: [
        { id: '001', text: 'lift of wings', relevant: new Map([['1', 3]]) },
        { id: '2', text: 'second', relevant: new Map([['2', 1]]) },
      ],
    });
  });

  it.each<[string, Readonly<Record<string, string>>, string]>([
    ['has none of the forms', { 'corpus.jsonl': '{}' }, 'is no test collection'],
    [
      'has a line that is no JSON',
      { ...BEIR, 'corpus.jsonl': '{"_id":"a","text":"b"}\nnonsense' },
      'corpus.jsonl, line 2',
    ],
    ['has a query without text', { ...BEIR, 'queries.jsonl': '{"_id":"q1"}' }, 'queries.jsonl, entry 1: text'],
    ['has a judgement without a grade', { ...BEIR, 'qrels/test.tsv': 'q1\td1' }, 'qrels/test.tsv, line 1'],
    ['has no documents', { ...TREC, 'documents.xml': '<xml></xml>' }, 'no documents'],
    ['has a document without a number', { ...TREC, 'documents.xml': '<doc><text>x</text></doc>' }, 'there is no docno'],
    ['judges none of its queries', { ...TREC, 'qrels.txt': '9 0 1 1' }, 'No query of the collection'],
  ])('that %s is wrong usage', (_, files, sentence) => {
    write(files);
    expect(() => readCollection(folder)).toThrow(
      expect.objectContaining({ exitCode: 2, message: expect.stringContaining(sentence) }),
    );
  });
});
