import { setImmediate as nextTurn } from 'node:timers/promises';
import { inReadScope, moment, newReadScope, renewReadScope, servesReadScope } from './read-scope';

describe('a read scope', () => {
  // Scopes are kept from the first question to a log on.
  beforeAll(() => void moment());
  afterEach(() => jest.restoreAllMocks());

  it('is served by what was asked after it began, and by nothing older', () => {
    const before = moment();
    inReadScope(() => expect([servesReadScope(before), servesReadScope(moment())]).toEqual([false, true]));
  });

  it('is none outside of it: nothing serves then', () => expect(servesReadScope(moment())).toBe(false));

  it('lasts over turns of the event loop, and is gone on with by name', async () => {
    const scope = newReadScope();
    const asked = await inReadScope(async () => {
      await nextTurn();
      return moment();
    }, scope);
    await nextTurn();
    expect(inReadScope(() => servesReadScope(asked), scope)).toBe(true);
    expect(inReadScope(() => servesReadScope(asked))).toBe(false);
  });

  it('is served anew only once it was renewed, by whomever inside it', async () => {
    await inReadScope(async () => {
      const asked = moment();
      await (async () => renewReadScope())();
      expect([servesReadScope(asked), servesReadScope(moment())]).toEqual([false, true]);
    });
  });

  it('is renewed by itself after a second, so that a timer of a request does not live by its answer', () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(1_000);
    inReadScope(() => {
      const asked = moment();
      now.mockReturnValue(2_000);
      expect(servesReadScope(asked)).toBe(true);
      now.mockReturnValue(2_001);
      expect(servesReadScope(asked)).toBe(false);
      expect(servesReadScope(moment())).toBe(true);
    });
  });

  it('is its own inside another', () => {
    inReadScope(() => {
      const asked = moment();
      inReadScope(() => expect(servesReadScope(asked)).toBe(false));
      expect(servesReadScope(asked)).toBe(true);
    });
  });
});
