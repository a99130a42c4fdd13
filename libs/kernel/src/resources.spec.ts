import { Resources } from './resources';

const named = (name: string, told: string[], fails = false) => ({
  close: async () => {
    told.push(name);
    if (fails) throw new Error(`${name} does not close`);
  },
});

describe('what a process has opened', () => {
  it('is opened one after the other and closed in the reverse order, once', async () => {
    const resources = new Resources();
    const told: string[] = [];
    const slow = resources.open(async () => {
      await new Promise(setImmediate);
      told.push('opened a');
      return named('a', told);
    });
    const quick = resources.open(() => {
      told.push('opened b');
      return named('b', told);
    });
    await Promise.all([slow, quick]);
    await Promise.all([resources.close(), resources.close()]);
    expect(told).toEqual(['opened a', 'opened b', 'b', 'a']);
  });

  it('is closed where something else cannot be opened, and nothing is opened behind that', async () => {
    const resources = new Resources();
    const told: string[] = [];
    await resources.open(() => named('a', told));
    const failing = resources.open(() => Promise.reject(new Error('no room')));
    const behind = resources.open(() => named('b', told));
    await expect(failing).rejects.toThrow('no room');
    await expect(behind).rejects.toThrow('no room');
    await resources.close();
    await expect(resources.open(() => named('c', told))).rejects.toThrow('no room');
    expect(told).toEqual(['a']);
  });

  it('is closed also where one does not close, which is told in the end', async () => {
    const resources = new Resources();
    const told: string[] = [];
    await resources.open(() => named('a', told));
    await resources.open(() => named('b', told, true));
    await expect(resources.close()).rejects.toThrow('b does not close');
    expect(told).toEqual(['b', 'a']);
  });
});
