import { FileClaims } from './file-claims';

it('files are held once each and in one order, however a question names them, and are free where it fails', async () => {
  const held: string[] = [];
  const files = new FileClaims({
    take: async (name) => {
      held.push(name);
      return async () => void held.splice(held.indexOf(name), 1);
    },
  });
  const work = files.holding(['b', 'a', 'b'], async () => {
    expect(held).toEqual(['attachment/a', 'attachment/b']);
    throw new Error('not recorded');
  });
  await expect(work).rejects.toThrow('not recorded');
  expect(held).toEqual([]);
});
