import { SavedParts, untilSave } from './saved-parts';

describe('untilSave', () => {
  const begun = Date.UTC(2026, 10, 28, 12);

  it('lets answers that began within 20 ms of each other be saved at the same moment', () => {
    const moments = new Set(Array.from({ length: 20 }, (_, late) => begun + late + untilSave(begun + late)));
    expect([...moments]).toEqual([begun + 480]);
  });

  it('rests for 460 ms at least, and saves within the 500 of the wire', () => {
    for (let late = 0; late < 1_000; late += 1) {
      expect(untilSave(begun + late)).toBeGreaterThan(460);
      expect(untilSave(begun + late)).toBeLessThanOrEqual(480);
    }
  });
});

describe('answers of a process', () => {
  afterEach(() => jest.restoreAllMocks());

  it('rest until the same moment, however they began', async () => {
    const rests = jest.spyOn(globalThis, 'setTimeout');
    for (const late of [0, 7, 19]) {
      jest.spyOn(Date, 'now').mockReturnValue(Date.UTC(2026, 10, 28) + late);
      const answer = new SavedParts(
        'answer',
        [],
        async () => true,
        () => undefined,
      );
      answer.changed([{ type: 'text', text: 'said' }]);
      await answer.end();
    }
    expect(rests.mock.calls.map(([, milliseconds]) => milliseconds)).toEqual([480, 473, 461]);
  });

  it('are saved again where a save failed, also where nothing more is said, and no more when they end', async () => {
    jest.useFakeTimers();
    try {
      const text = (said: string) => [{ type: 'text' as const, text: said }];
      const saves: unknown[] = [];
      let isDown = true;
      const answer = new SavedParts(
        'answer',
        [],
        async ({ parts }) => {
          saves.push(parts);
          if (isDown) throw new Error('the log is away');
          return true;
        },
        () => (isDown = false),
      );
      answer.changed(text('Half '));
      await jest.advanceTimersByTimeAsync(1_000);
      expect(saves).toEqual([text('Half '), text('Half ')]);
      await jest.advanceTimersByTimeAsync(5_000);
      answer.changed(text('Half an answer'));
      expect(await answer.end()).toEqual({ part: 0, offset: 5, parts: text('an answer') });
      answer.changed(text('Half an answer.'));
      await jest.advanceTimersByTimeAsync(5_000);
      expect(saves).toHaveLength(2);
    } finally {
      jest.useRealTimers();
    }
  });
});
