import { Decisions, onBudget, RECALL_AFTER_MS, Unavailable, WaitBudget } from '.';
import { ownTime } from '../../../test/fixtures/own-time';
import { type MemoryLog, meta, notes, setUp } from './notes.contract';

describe('decisions on a log that others write too', () => {
  /** Two processes; the first one's log knows where streams end when it was asked, which is counted. */
  const shared = () => {
    const all = setUp();
    const { log, codec } = all;
    const lengthOf = (stream: string): number => log.events.filter((event) => event.stream === stream).length;
    const questions = { asked: 0, at: -Infinity, ends: new Map<string, number>(), slowness: Promise.resolve() };
    log.readIndex = {
      timeline: 1,
      confirm: async (stream, revision) => {
        questions.asked += 1;
        await questions.slowness;
        if (log.isDown) throw new Unavailable('event log', 'it is away');
        questions.at = performance.now();
        questions.ends = new Map(log.events.map((event) => [event.stream, lengthOf(event.stream) - 1]));
        return lengthOf(stream) - 1 <= revision;
      },
      lastEndOf: (stream) => ({ revision: questions.ends.get(stream) ?? -1, askedAt: questions.at }),
    };
    return { ...all, questions, other: new Decisions(log, codec) };
  };

  it('reads an aggregate again only where it has moved, and never goes by memory unasked', async () => {
    const { log, decisions, other, questions } = shared();
    await other.transact(notes, 'n1', { type: 'Note', text: 'a' }, meta());
    await decisions.load(notes, 'n1');
    const [reads, asked] = [log.reads, questions.asked];
    expect((await decisions.load(notes, 'n1')).state.texts).toEqual(['a']);
    expect([log.reads, questions.asked]).toEqual([reads, asked + 1]);
    await other.transact(notes, 'n1', { type: 'Note', text: 'b' }, meta());
    expect((await decisions.load(notes, 'n1')).state.texts).toEqual(['a', 'b']);
    expect(log.reads).toBe(reads + 1);
  });

  it('reads nothing of what it appended itself, and knows its commands', async () => {
    const { log, decisions, questions } = shared();
    const command = meta();
    const first = await decisions.transact(notes, 'n1', { type: 'Note', text: 'a' }, command);
    await decisions.transact(notes, 'n1', { type: 'Note', text: 'b' }, meta());
    const reads = log.reads;
    expect(await decisions.load(notes, 'n1')).toMatchObject({
      state: { texts: ['a', 'b'] },
      revision: 1,
      position: '1',
    });
    expect(await decisions.transact(notes, 'n1', { type: 'Note', text: 'a' }, command)).toEqual({
      ...first,
      repeated: true,
    });
    expect(log.reads).toBe(reads);
    expect(questions.asked).toBeGreaterThan(0);
  });

  it('reads what stands behind its own events, and large ones of its own', async () => {
    const { log, decisions, other } = shared();
    await decisions.transact(notes, 'n1', { type: 'Note', text: 'a' }, meta());
    await other.transact(notes, 'n1', { type: 'Note', text: 'b' }, meta());
    expect((await decisions.load(notes, 'n1')).state.texts).toEqual(['a', 'b']);
    const reads = log.reads;
    const long = 'x'.repeat(20_000);
    await decisions.transact(notes, 'n1', { type: 'Note', text: long }, meta());
    expect((await decisions.load(notes, 'n1')).state.texts).toEqual(['a', 'b', long]);
    expect(log.reads).toBe(reads + 1);
  });

  it('keeps nothing of its own append of what was forgotten meanwhile', async () => {
    const { log, decisions } = shared();
    await decisions.transact(notes, 'n1', { type: 'Note', text: 'a' }, meta());
    await decisions.load(notes, 'n1');
    log.before = async () => decisions.forget('notes-n1');
    await decisions.transact(notes, 'n1', { type: 'Note', text: 'b' }, meta());
    const reads = log.reads;
    expect((await decisions.load(notes, 'n1')).state.texts).toEqual(['a', 'b']);
    expect(log.reads).toBe(reads + 1);
  });

  it('forgets what it folded when the log turns out to be another, also while that is read', async () => {
    const { log, decisions } = shared();
    const readIndex = log.readIndex as NonNullable<MemoryLog['readIndex']>;
    for (const text of ['a', 'b']) await decisions.transact(notes, 'n1', { type: 'Note', text }, meta());
    await decisions.load(notes, 'n1');
    const confirm = readIndex.confirm.bind(readIndex);
    readIndex.confirm = async (stream, revision) => {
      readIndex.confirm = confirm;
      log.events.pop();
      readIndex.timeline += 1;
      return confirm(stream, revision);
    };
    expect(await decisions.load(notes, 'n1')).toMatchObject({ state: { texts: ['a'] }, revision: 0 });
    await expect(decisions.transact(notes, 'n1', { type: 'Note', text: 'c' }, meta())).resolves.toMatchObject({
      revision: 1,
    });
  });

  it('recalls for five minutes what the log was last asked for, whatever was asked for then, with its own events', async () => {
    const { log, decisions, other } = shared();
    for (const id of ['n1', 'n2', 'n3']) await other.transact(notes, id, { type: 'Note', text: 'a' }, meta());
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    for (const id of ['n1', 'n2', 'n3']) await decisions.load(notes, id);
    await other.transact(notes, 'n3', { type: 'Note', text: 'b' }, meta());
    now.mockReturnValue(4 * 60_000);
    await decisions.load(notes, 'n2');
    await decisions.transact(notes, 'n2', { type: 'Note', text: 'own' }, meta());
    log.isDown = true;
    now.mockReturnValue(8 * 60_000);
    expect((await decisions.recall(notes, 'n1')).state.texts).toEqual(['a']);
    expect((await decisions.recall(notes, 'n2')).state.texts).toEqual(['a', 'own']);
    // It had moved when the log was asked: what is known of it was read eight minutes ago.
    await expect((async () => decisions.recall(notes, 'n3'))()).rejects.toMatchObject({ name: 'Unavailable' });
    now.mockReturnValue(9 * 60_000 + 1);
    await expect((async () => decisions.recall(notes, 'n1'))()).rejects.toMatchObject({ name: 'Unavailable' });
    now.mockRestore();
  });

  it('leaves open what it cannot ask for to those who may go by memory, who do not wait a second time', async () => {
    const { log, decisions, other, questions } = shared();
    await other.transact(notes, 'n1', { type: 'Note', text: 'a' }, meta());
    await decisions.load(notes, 'n1');
    expect(await decisions.confirm('notes-n1', 0, true)).toBe(true);
    log.isDown = true;
    await expect(decisions.confirm('notes-n1', 0, false)).rejects.toMatchObject({ name: 'Unavailable' });
    const { asked } = questions;
    expect(await decisions.confirm('notes-n1', 0, true)).toBe(false);
    expect(await decisions.confirm('notes-n1', 0, true)).toBe(false);
    expect(questions.asked).toBe(asked + 1);
    log.isDown = false;
    expect(await decisions.confirm('notes-n1', 0, false)).toBe(true);
  });

  it('goes by memory no more once the log is back, though nobody has read since', async () => {
    const { log, decisions, other } = shared();
    await other.transact(notes, 'n1', { type: 'Note', text: 'a' }, meta());
    await decisions.load(notes, 'n1');
    log.isDown = true;
    const texts = async () => (await decisions.recall(notes, 'n1')).state.texts;
    expect(await texts()).toEqual(['a']);
    log.isDown = false;
    const { reads } = log;
    const deadline = performance.now() + 2_000;
    while (log.reads === reads && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
    await other.transact(notes, 'n1', { type: 'Note', text: 'b' }, meta());
    expect(await texts()).toEqual(['a', 'b']);
  });

  it('takes what is denied unasked for no sign that the log is back', async () => {
    const { log, decisions, other, questions } = shared();
    await other.transact(notes, 'n1', { type: 'Note', text: 'a' }, meta());
    await decisions.load(notes, 'n1');
    log.isDown = true;
    expect(await decisions.confirm('notes-n1', 0, true)).toBe(false);
    const readIndex = log.readIndex as NonNullable<MemoryLog['readIndex']>;
    const confirm = readIndex.confirm.bind(readIndex);
    readIndex.confirm = async () => false;
    await expect((async () => decisions.load(notes, 'new'))()).rejects.toMatchObject({ name: 'Unavailable' });
    readIndex.confirm = confirm;
    const { asked } = questions;
    expect(await decisions.confirm('notes-n1', 0, true)).toBe(false);
    expect(questions.asked).toBe(asked);
  });

  describe('while the log is slow', () => {
    const slow = async () => {
      const all = shared();
      for (const id of ['n1', 'n2']) {
        await all.decisions.transact(notes, id, { type: 'Note', text: 'a' }, meta());
        await all.decisions.load(notes, id);
      }
      await all.other.transact(notes, 'n1', { type: 'Note', text: 'b' }, meta());
      const { promise, resolve } = Promise.withResolvers<void>();
      all.questions.slowness = promise;
      return { ...all, answer: resolve };
    };
    const timed = async <T>(work: () => T | Promise<T>): Promise<[T, number]> => {
      const took = ownTime();
      return [await work(), took()];
    };

    it('goes on after two seconds for a request that reads, at once for the next ones, and has one that writes wait', async () => {
      const { decisions, answer } = await slow();
      const texts = (id: string, recallAfter: number | undefined) =>
        onBudget(new WaitBudget(recallAfter), async () => (await decisions.recall(notes, id)).state.texts);
      const writer = texts('n1', undefined);
      const asked = performance.now();
      const [recalled, took] = await timed(() => texts('n1', RECALL_AFTER_MS));
      expect(recalled).toEqual(['a']);
      expect(performance.now() - asked).toBeGreaterThan(1_900);
      expect(took).toBeLessThan(5_000);
      const [[confirmed, confirmedIn], [next, nextIn]] = await Promise.all([
        timed(() => decisions.confirm('notes-n1', 0, true)),
        timed(() => texts('n2', RECALL_AFTER_MS)),
      ]);
      expect([confirmed, next]).toEqual([false, ['a']]);
      expect(Math.max(confirmedIn, nextIn)).toBeLessThan(1_500);

      answer();
      expect(await writer).toEqual(['a', 'b']);
      expect(await texts('n1', RECALL_AFTER_MS)).toEqual(['a', 'b']);
    });

    it('leaves open for who monitors whether an aggregate has moved, and takes no log for slow by that', async () => {
      const { decisions, answer, questions } = await slow();
      const confirmed = () => onBudget(new WaitBudget(50), () => decisions.confirm('notes-n2', 0, true));
      const asked = questions.asked;
      expect(await confirmed()).toBe(false);
      expect(await confirmed()).toBe(false);
      expect(questions.asked).toBe(asked + 2);
      answer();
      expect(await confirmed()).toBe(true);
    });
  });
});
