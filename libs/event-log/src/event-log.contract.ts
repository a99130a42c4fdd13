import { appendingContract } from './contract/appending.contract';
import { concurrencyContract } from './contract/concurrency.contract';
import { followingContract } from './contract/following.contract';
import type { LogUnderTest } from './contract/log-under-test.contract';
import { racingContract, type Races } from './contract/racing.contract';
import { readingContract } from './contract/reading.contract';

/**
 * What every adapter of the log does, for its spec: `eventLogContract(open)` with a function that opens a log. `races`: how often
 * many write at once; 0 leaves out who wins then, for a second version of a server whose writing is tested with the first.
 */
export const eventLogContract = (open: () => Promise<LogUnderTest>, { races }: { races: Races | 0 }): void => {
  let opened: LogUnderTest;
  beforeAll(async () => void (opened = await open()));
  afterAll(() => opened.dispose());
  const shared = (): LogUnderTest => opened;

  describe('appending', () => appendingContract(shared));
  if (races !== 0) {
    describe('concurrency', () => concurrencyContract(shared));
    describe('racing', () => racingContract(shared, races));
  }
  describe('reading', () => readingContract(shared));
  describe('following', () => followingContract(shared));
};
