import { EncodeQueue } from './encode-queue';

/** A queue that says which texts it encodes, in order, those of a batch as one; `at` is called before each. */
const made = (at: (text: string) => void = () => undefined, batchSize = 1) => {
  const encoded: string[] = [];
  const queue = new EncodeQueue(async (texts) => {
    at(texts.join(' '));
    encoded.push(texts.join(' '));
    await Promise.resolve();
    return texts.map((text) => Float32Array.of(text.length));
  }, batchSize);
  return { queue, encoded };
};

describe('the queue of texts to encode', () => {
  it('takes one text of each caller in turn', async () => {
    const { queue, encoded } = made();
    const answers = await Promise.all([queue.add(1, ['a1', 'a2', 'a3']), queue.add(2, ['b1']), queue.add(3, [])]);
    expect(encoded).toEqual(['a1', 'b1', 'a2', 'a3']);
    expect(answers.map((vectors) => vectors.length)).toEqual([3, 1, 0]);
  });

  it('takes one batch of each caller in turn, with a vector for each text', async () => {
    const { queue, encoded } = made(undefined, 2);
    const answers = await Promise.all([queue.add(1, ['a', 'bb', 'ccc']), queue.add(2, ['d'])]);
    expect(encoded).toEqual(['a bb', 'd', 'ccc']);
    expect(answers.map((vectors) => vectors.map(([length]) => length))).toEqual([[1, 2, 3], [1]]);
  });

  it('hears a caller who comes in the middle, and encodes nothing more for one who left', async () => {
    const many = Array.from({ length: 1_000 }, (_, index) => `a${index}`);
    const { queue, encoded } = made((text) => {
      if (text !== 'a2') return;
      setImmediate(() => {
        queue.cancel(1);
        late = queue.add(2, ['b']);
      });
    });
    let late: Promise<unknown> | undefined;
    void queue.add(1, many);
    while (late === undefined) await new Promise((resolve) => setImmediate(resolve));
    await late;
    expect(encoded.length).toBeLessThan(10);
    expect(encoded.at(-1)).toBe('b');
    await queue.add(3, ['c']);
    expect(encoded.at(-1)).toBe('c');
  });

  it('fails one caller with what could not be encoded, and goes on with the others', async () => {
    const { queue } = made((text) => {
      if (text === 'poison') throw new Error('poison');
    });
    const [bad, good] = await Promise.allSettled([queue.add(1, ['poison', 'a']), queue.add(2, ['b', 'c'])]);
    expect(bad).toMatchObject({ status: 'rejected', reason: { message: 'poison' } });
    expect(good).toMatchObject({ status: 'fulfilled', value: [Float32Array.of(1), Float32Array.of(1)] });
  });
});
