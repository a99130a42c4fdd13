import { Unavailable } from '@app/kernel';
import { EncoderPair } from './encoder-pair';

/** An encoder that says what it was asked for, and fails once `failing` says with what. */
const encoder = () => {
  const asked: string[] = [];
  const state: { failing?: Error; isClosed: boolean } = { isClosed: false };
  return {
    asked,
    state,
    encode: async (texts: readonly string[], signal: AbortSignal) => {
      asked.push(texts.join(' '));
      if (signal.aborted) throw signal.reason;
      if (state.failing !== undefined) throw state.failing;
      return texts.map((text) => Float32Array.of(Number(text)));
    },
    close: async () => void (state.isClosed = true),
  };
};

const made = () => {
  const [first, second] = [encoder(), encoder()];
  const pair = new EncoderPair(first, second);
  const encode = async (texts: string, ofMany: boolean, signal = new AbortController().signal) =>
    (await pair.encode(texts.split(' '), ofMany, signal)).map(([value]) => value);
  return { first, second, pair, encode };
};

describe('two processes of one model', () => {
  it('take half of the texts of a long document each, in order, once the first has the model prepared', async () => {
    const { first, second, encode } = made();
    expect(await encode('1 2 3 4', true)).toEqual([1, 2, 3, 4]);
    expect(await encode('5 6 7', true)).toEqual([5, 6, 7]);
    expect(await encode('8', true)).toEqual([8]);
    expect(first.asked).toEqual(['1 2 3 4', '5 6', '8']);
    expect(second.asked).toEqual(['7']);
  });

  it('are one for everything else', async () => {
    const { first, second, encode } = made();
    for (const texts of ['1', '2 3']) await encode(texts, false);
    expect([first.asked, second.asked]).toEqual([['1', '2 3'], []]);
  });

  it('do without the second where it ends, and say what else it fails with', async () => {
    const { first, second, encode } = made();
    await encode('0', false);
    second.state.failing = new Unavailable('small', 'its process ended');
    expect(await encode('1 2', true)).toEqual([1, 2]);
    expect(first.asked).toEqual(['0', '1', '2']);
    second.state.failing = new Error('a fault');
    await expect(encode('1 2', true)).rejects.toThrow('a fault');
  });

  it('fail with the first, and with who left', async () => {
    const { first, encode } = made();
    await encode('0', false);
    await expect(encode('1 2', true, AbortSignal.abort(new Error('left')))).rejects.toThrow('left');
    first.state.failing = new Unavailable('small', 'its process ended');
    await expect(encode('1 2', true)).rejects.toMatchObject({ reason: 'its process ended' });
  });

  it('are closed together', async () => {
    const { first, second, pair } = made();
    await pair.close();
    expect([first.state.isClosed, second.state.isClosed]).toEqual([true, true]);
  });
});
