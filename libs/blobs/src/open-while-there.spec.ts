import { BlobDamaged, type OpenBody } from './blobs';
import { openWhileThere } from './open-while-there';

const gone = (): never => {
  throw new Error('gone');
};
const read = async ({ pieces }: OpenBody): Promise<string> => {
  let text = '';
  for await (const piece of pieces) text += String(piece);
  return text;
};
async function* breaking(): AsyncGenerator<Buffer> {
  yield Buffer.from('one');
  throw new BlobDamaged('b', 'it ends too early');
}
async function* one(): AsyncGenerator<Buffer> {
  yield Buffer.from('one');
}
const whole = (): OpenBody => ({ size: 3, pieces: one() });
/** A store that answers these, one after the other. */
const store = (...answers: readonly (OpenBody | undefined)[]) => {
  const left = [...answers];
  return { open: async () => left.shift() };
};

describe('a body that is read slowly', () => {
  it('comes whole', async () => {
    const opened = await openWhileThere(store(whole()), 's', 'b', gone);
    expect([opened.size, await read(opened)]).toEqual([3, 'one']);
  });

  it('is gone where it was never there', () => expect(openWhileThere(store(), 's', 'b', gone)).rejects.toThrow('gone'));

  it('is gone where it is deleted while it is read', async () => {
    const opened = await openWhileThere(store({ size: 6, pieces: breaking() }, undefined), 's', 'b', gone);
    await expect(read(opened)).rejects.toThrow('gone');
  });

  it('is damaged where it is still there', async () => {
    const opened = await openWhileThere(store({ size: 6, pieces: breaking() }, whole()), 's', 'b', gone);
    await expect(read(opened)).rejects.toBeInstanceOf(BlobDamaged);
  });
});
