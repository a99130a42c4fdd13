import { fieldOf } from './fields';
import { topicOf } from './topics';

describe('the field of a word', () => {
  it.each([
    ['weiterzuleiten', 'forward'],
    ['überschreibt', 'wipes'],
    ['revisorin', 'auditors'],
    ['chatprotokolle', 'transcript'],
  ])('is that of words with its sense in the other language: %s as %s', (german, english) => {
    const folded = german.replaceAll('ü', 'ue');
    expect(fieldOf(folded)).toBeGreaterThan(0);
    expect(fieldOf(folded)).toBe(fieldOf(english));
  });

  it('of a compound that no list has is that of what it ends in', () => {
    expect(topicOf('xylophonkarte')).toBe(topicOf('landkarte'));
    expect(fieldOf('xylophon')).toBe(0);
  });
});
