import { repeatedRead } from './mongo-errors';

const broken = (): Error => Object.assign(new Error('write ECONNRESET'), { code: 'ECONNRESET', syscall: 'write' });

describe('a read from MongoDB', () => {
  it('is made again where connections break as they are written to', async () => {
    const read = jest.fn().mockRejectedValueOnce(broken()).mockRejectedValueOnce(broken()).mockResolvedValue('rows');
    expect(await repeatedRead(read)).toBe('rows');
  });

  it.each([
    ['a connection that breaks each time', broken(), 3],
    [
      'what the driver has judged',
      Object.assign(new Error('closed'), { name: 'MongoNetworkError', errorLabels: [] }),
      1,
    ],
  ])('fails for %s', async (_name, error, times) => {
    const read = jest.fn().mockRejectedValue(error);
    await expect(repeatedRead(read)).rejects.toBe(error);
    expect(read).toHaveBeenCalledTimes(times);
  });
});
