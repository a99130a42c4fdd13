import { LONGEST_SUMMARY } from '../section-summary/section-summary.events';
import { keptSummary } from './model-calls';

it('keeps of what a model says what an event can hold', () => {
  expect(keptSummary(' A\0 whole \ud83d summary. ')).toBe('A whole \ufffd summary.');
  const long = keptSummary(`a${'\u{1f600}'.repeat(LONGEST_SUMMARY)}`);
  expect([long.length, long.isWellFormed()]).toEqual([LONGEST_SUMMARY, true]);
  expect(keptSummary(' \0 ')).toBe('');
});
