import { answerLines, differing, questionsAbout } from './conversation';

const file = (text: string) => ({ path: 'a.md', name: 'a.md', text });
const answer = {
  question: 'Q?',
  text: 'Yes. [1]',
  sources: [{ title: 'a.md', quote: 'Yes,\nindeed.', position: { start: 3, end: 9, heading: 'Top' } }],
};

describe('questions about documents that nobody knows', () => {
  it('quote the first sentence of the first three that hold one', () => {
    const sentence = 'Ferries leave the harbour at nine in the morning, and again at noon when it is summer.';
    const files = [
      file(`# Title\n\n- a list\n\n${sentence}\n`),
      file('# Nothing but a heading'),
      file(sentence),
      file(sentence),
      file(sentence),
    ];
    expect(questionsAbout(files)).toEqual(
      Array(3).fill('What is meant by "Ferries leave the harbour at nine in the morning, and"?'),
    );
  });
});

describe('an answer', () => {
  it('is shown with each source, its place and its quote', () => {
    expect(answerLines(answer)).toEqual([
      'Q: Q?',
      'A: Yes. [1]',
      '   [1] "Yes, indeed."',
      '       a.md, under "Top", characters 3 to 9',
      '',
    ]);
  });

  it('differs when its text or a source does', () => {
    expect(differing([answer], [{ ...answer }])).toEqual([]);
    expect(differing([answer], [{ ...answer, sources: [] }])).toEqual(['Q?']);
  });
});
