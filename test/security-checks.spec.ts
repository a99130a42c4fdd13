import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(__dirname, '..');
const rows = readFileSync(join(root, 'docs/security-checks.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| (?:[A-I]\d\d|\d+) \|/.test(line));
const cellsOf = (row: string): readonly string[] =>
  row
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim());

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Titles in a file as they are written, whatever their quotes and where the line breaks; of tables of cases also the names of the cases. */
const holdsTitle = (file: string, title: string): boolean => {
  const text = readFileSync(join(root, file), 'utf8').replaceAll("\\'", "'");
  return new RegExp(`[([]\\s*(['"\`])${escaped(title)}\\1,|\\n {4,}(['"\`])${escaped(title)}\\2,`).test(text);
};

describe('docs/security-checks.md', () => {
  it('has a row for each check, once', () => {
    const checks = rows.map((row) => cellsOf(row)[0]);
    expect(new Set(checks).size).toBe(checks.length);
    expect(checks.length).toBeGreaterThan(100);
  });

  it.each(rows.map((row) => cellsOf(row)))('%s names tests that are there', (_check, sentence, proof = '') => {
    expect(sentence).toMatch(/^\S.*\.$/);
    const pieces = proof.replaceAll('\\|', '|').split('<br>');
    const named = pieces.flatMap((piece) => {
      const [, file = '', title = ''] = /^`([^`]+)` (.+)$/.exec(piece) ?? [];
      return file === '' ? [] : [{ file, title }];
    });
    expect(pieces.filter((piece) => !piece.startsWith('`') && !/^_.+\._$/.test(piece))).toEqual([]);
    expect(named.length > 0 || pieces.some((piece) => piece.startsWith('_Not built'))).toBe(true);
    expect(named.filter(({ file, title }) => !existsSync(join(root, file)) || !holdsTitle(file, title))).toEqual([]);
  });
});
