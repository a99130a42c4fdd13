import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXIT, Failure } from '../exit-codes';
import type { Judgements } from './metrics';

/** Documents, queries and judgements of a test collection. */
export interface Collection {
  readonly documents: readonly CollectedDocument[];
  /** Those that have a relevant document. */
  readonly queries: readonly JudgedQuery[];
}

export interface CollectedDocument {
  readonly id: string;
  readonly title: string;
  readonly text: string;
}

export interface JudgedQuery {
  readonly id: string;
  readonly text: string;
  readonly relevant: Judgements;
}

const BEIR = ['corpus.jsonl', 'queries.jsonl', 'qrels/test.tsv'] as const;
const TREC = ['documents.xml', 'topics.xml', 'qrels.txt'] as const;

/** Reads a folder in the form of BEIR or TREC. Throws a `Failure` for any other, with exit code 2. */
export const readCollection = (folder: string): Collection => {
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  const has = (files: readonly string[]): boolean => files.every((file) => existsSync(join(folder, file)));
  if (has(BEIR))
    return collected(beirDocuments(read(BEIR[0])), beirQueries(read(BEIR[1])), qrels(read(BEIR[2]), BEIR[2]));
  if (has(TREC))
    return collected(trecDocuments(read(TREC[0])), trecQueries(read(TREC[1])), qrels(read(TREC[2]), TREC[2]));
  throw wrong(`${folder} is no test collection. It needs ${BEIR.join(', ')} (BEIR), or ${TREC.join(', ')} (TREC).`);
};

type Asked = readonly { readonly id: string; readonly text: string }[];

const collected = (
  documents: readonly CollectedDocument[],
  asked: Asked,
  judged: ReadonlyMap<string, Judgements>,
): Collection => {
  const queries = asked.flatMap(({ id, text }) => {
    // Topics are often numbered with leading zeros where judgements are not.
    const relevant = judged.get(id) ?? judged.get(id.replace(/^0+(?=\d)/, ''));
    return relevant === undefined || relevant.size === 0 || text === '' ? [] : [{ id, text, relevant }];
  });
  if (documents.length === 0) throw wrong('The collection has no documents.');
  if (queries.length === 0) throw wrong('No query of the collection has a relevant document in its judgements.');
  return { documents, queries };
};

const beirDocuments = (text: string): readonly CollectedDocument[] =>
  jsonLines(text, BEIR[0]).map(({ _id, title = '', text: body = '' }, index) => ({
    id: fieldOf(_id, BEIR[0], index, '_id'),
    title: fieldOf(title ?? '', BEIR[0], index, 'title'),
    text: fieldOf(body, BEIR[0], index, 'text'),
  }));

const beirQueries = (text: string): Asked =>
  jsonLines(text, BEIR[1]).map(({ _id, text: query }, index) => ({
    id: fieldOf(_id, BEIR[1], index, '_id'),
    text: fieldOf(query, BEIR[1], index, 'text'),
  }));

const jsonLines = (text: string, file: string): readonly Readonly<Record<string, unknown>>[] =>
  text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      const value: unknown = JSON.parse(line);
      if (typeof value === 'object' && value !== null) return [value as Record<string, unknown>];
    } catch {
      // Said below.
    }
    throw wrong(`${file}, line ${index + 1}: this is no JSON object.`);
  });

const fieldOf = (value: unknown, file: string, index: number, name: string): string => {
  if (typeof value === 'string') return value.trim();
  if (typeof value === 'number') return String(value);
  throw wrong(`${file}, entry ${index + 1}: ${name} is no text.`);
};

const trecDocuments = (xml: string): readonly CollectedDocument[] =>
  elements(xml, 'doc').map((body, index) => {
    const id = content(body, 'docno');
    if (id === '') throw wrong(`${TREC[0]}, document ${index + 1}: there is no docno.`);
    return { id, title: content(body, 'title') || content(body, 'headline'), text: content(body, 'text') };
  });

const trecQueries = (xml: string): Asked =>
  elements(xml, 'top').map((body, index) => {
    const id = content(body, 'num').replace(/^Number:\s*/i, '');
    if (id === '') throw wrong(`${TREC[1]}, topic ${index + 1}: there is no num.`);
    const title = content(body, 'title').replace(/^Topic:\s*/i, '');
    return { id, text: title || content(body, 'desc').replace(/^Description:\s*/i, '') };
  });

/** What stands in each element of a name, in whatever case it is written. */
const elements = (xml: string, name: string): readonly string[] =>
  xml
    .split(new RegExp(`<${name}(?:\\s[^>]*)?>`, 'i'))
    .slice(1)
    .map((rest) => rest.split(new RegExp(`</${name}\\s*>`, 'i'))[0] as string);

/** The text of the first element of a name: to its end, or, as topics of TREC leave ends out, to the next of the usual elements. */
const content = (xml: string, name: string): string => {
  const [, rest] = xml.split(new RegExp(`<${name}(?:\\s[^>]*)?>`, 'i'), 2);
  if (rest === undefined) return '';
  const [inside = ''] = rest.split(new RegExp(`</${name}\\s*>|<(?:num|title|desc|narr|docno)(?:\\s[^>]*)?>`, 'i'), 1);
  return decoded(inside.replace(/<[^<>]*>/g, ' '))
    .replace(/[ \t]+/g, ' ')
    .trim();
};

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

const decoded = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[String(name).toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });

/** Lines `query document grade`, with a heading in BEIR's form, and with a second column that nobody reads in TREC's. */
const qrels = (text: string, file: string): ReadonlyMap<string, Judgements> => {
  const judged = new Map<string, Map<string, number>>();
  for (const [index, line] of text.split('\n').entries()) {
    const fields = line.trim().split(/\s+/);
    if (line.trim() === '' || (index === 0 && /^query-?_?id$/i.test(fields[0] as string))) continue;
    const [query, document, grade] = fields.length === 4 ? [fields[0], fields[2], fields[3]] : fields;
    if (query === undefined || document === undefined || grade === undefined || !Number.isFinite(Number(grade)))
      throw wrong(`${file}, line ${index + 1}: this is no judgement.`);
    if (Number(grade) <= 0) continue;
    const relevant = judged.get(query) ?? new Map<string, number>();
    relevant.set(document, Number(grade));
    judged.set(query, relevant);
  }
  return judged;
};

const wrong = (sentence: string): Failure => new Failure(sentence, EXIT.wrongUsage);
