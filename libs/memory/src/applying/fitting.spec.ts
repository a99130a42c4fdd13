import { fitting } from './fitting';

const memory = (memoryId: string, text: string, tokens: number, updatedAt: string) => ({
  memoryId,
  text,
  tokens,
  updatedAt,
});
const tea = memory('m1', 'The user likes green tea', 10, '2026-01-01');
const trains = memory('m2', 'Der Nutzer reist gern mit Zügen', 10, '2026-01-02');
const cats = memory('m3', 'The user has two cats', 10, '2026-01-03');

describe('memories for an answer', () => {
  it('are all of them where they fit, the newest first', () => {
    expect(fitting([tea, cats, trains], 'Which tea?', 30)).toEqual([cats, trains, tea]);
  });

  it('are those that have the words of the question where they do not, and then the newest', () => {
    expect(fitting([tea, cats, trains], 'Which teas are there?', 20)).toEqual([tea, cats]);
    expect(fitting([tea, cats, trains], 'Welcher Zug fährt heute?', 20)).toEqual([trains, cats]);
    expect(fitting([tea, cats, trains], '', 10)).toEqual([cats]);
  });

  it('leave the room of one that does not fit to the next', () => {
    const long = memory('m4', 'The user knows much about tea', 25, '2026-01-04');
    expect(fitting([long, tea, cats], 'tea', 20)).toEqual([tea, cats]);
    expect(fitting([tea], 'tea', 0)).toEqual([]);
  });
});
