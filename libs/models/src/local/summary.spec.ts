import { threadTime } from '../../../../test/fixtures/processor-time';
import type { ChatSource } from '../provider';
import { summaryOf } from './summary';

const source = (number: number, text: string, headings: readonly string[] = []): ChatSource => ({
  number,
  title: 'a.md',
  headings,
  text,
});

const FOXES = 'Foxes hunt at night. The fox hunts mice in the forest. Its coat is red.';

describe('a summary of sources', () => {
  it('is made of their own sentences, those that say most, in their order', () => {
    const summary = summaryOf([
      source(1, FOXES, ['Foxes']),
      source(2, 'Mice fear the fox at night in the forest. Somebody painted the fence.'),
    ]);
    const all = `${FOXES} Mice fear the fox at night in the forest. Somebody painted the fence.`;
    const sentences = summary.split(/(?<=\.) /);
    expect(sentences.length).toBeGreaterThan(1);
    expect(sentences.length).toBeLessThanOrEqual(4);
    const places = sentences.map((sentence) => all.indexOf(sentence));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places).not.toContain(-1);
    expect(summary).toContain('The fox hunts mice in the forest.');
  });

  it('says nothing twice', () => {
    const summary = summaryOf([
      source(1, 'The product keeps its data in a folder. Backups run at night.'),
      source(2, 'The product keeps its data in a folder. The log is the truth of it.'),
    ]);
    expect(summary.match(/keeps its data/g)).toHaveLength(1);
  });

  it('reads German', () =>
    expect(
      summaryOf([source(1, 'Die Füchse jagen nachts Mäuse im Wald. Die Mäuse fürchten die Füchse im Wald sehr.')]),
    ).toContain('Füchse'));

  it('of what has no sentence is its beginning, of nothing is empty', () => {
    expect(summaryOf([source(1, '```\nnpm install\nnpm start\n```')])).toBe('``` npm install npm start ```');
    expect(summaryOf([])).toBe('');
  });

  it('is short, however long they are, and quickly made', () => {
    const long = Array.from({ length: 400 }, (_, index) => `The habit number ${index} of foxes is a matter of taste.`);
    const spent = threadTime();
    const summary = summaryOf(Array.from({ length: 8 }, (_, index) => source(index + 1, long.join(' '))));
    expect(summary.length).toBeLessThanOrEqual(1_100);
    expect(spent()).toBeLessThan(5_000);
  });
});
