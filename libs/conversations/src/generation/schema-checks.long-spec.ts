import { SchemaChecks } from './schema-checks';

const SLOW = { schema: { pattern: '^(a+)+$' }, given: { value: `${'a'.repeat(60)}!` } };
const going = { userId: 'u1', signal: new AbortController().signal };

describe('checks of schemas from outside', () => {
  const checks = new SchemaChecks();
  afterAll(() => checks.close());

  it('go on behind one that takes for ever, in their order, without those whose callers left', async () => {
    const caller = new AbortController();
    const slow = checks.check(SLOW, going);
    const left = checks.check({ schema: {} }, { userId: 'u1', signal: caller.signal });
    const next = checks.check({ schema: { type: 'string' }, given: { value: 5 } }, going);
    caller.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    expect(await slow).toEqual({ tooMuch: true });
    expect(await next).toEqual({ faults: ['the value must be string'] });
  });

  it('let users take turns, and a user have some that wait and no more', async () => {
    const of = (userId: string) => ({ ...going, userId });
    const ended: string[] = [];
    const slow = checks.check(SLOW, going);
    const own = Array.from({ length: 5 }, (_, index) =>
      checks.check({ schema: {} }, going).then(() => ended.push(`own ${index}`)),
    );
    const other = checks.check({ schema: {} }, of('u2')).then(() => ended.push('other'));
    const refused = { code: 'unavailable', facts: { retryAfterSeconds: 1 } };
    await expect(checks.check({ schema: {} }, going)).rejects.toMatchObject(refused);
    // Of an answer that is paid for.
    const value = checks.check({ schema: {}, given: { value: 1 } }, going).then(() => ended.push('value'));
    await Promise.all([slow, ...own, other, value]);
    expect(ended).toEqual(['own 0', 'other', 'own 1', 'own 2', 'own 3', 'own 4', 'value']);
  });

  it('let in no more of all users together than can be checked in time', async () => {
    const leaving = new AbortController();
    const of = (index: number) => ({ userId: `u${index}`, signal: leaving.signal });
    const slow = checks.check(SLOW, going);
    const waiting = Array.from({ length: 50 }, (_, index) => checks.check({ schema: {} }, of(index)));
    await expect(checks.check({ schema: {} }, of(50))).rejects.toMatchObject({ code: 'unavailable' });
    leaving.abort(new Error('left'));
    expect((await Promise.allSettled(waiting)).every(({ status }) => status === 'rejected')).toBe(true);
    expect(await Promise.all([slow, checks.check({ schema: {} }, going)])).toEqual([{ tooMuch: true }, { faults: [] }]);
  });

  it('give a schema its time where the machine gives the process little', async () => {
    const begunAt = performance.now();
    const took = () => performance.now() - begunAt;
    const computed = jest
      .spyOn(process, 'cpuUsage')
      .mockImplementation(() => ({ user: took() < 3_000 ? 0 : 2_000_000, system: 0 }));
    expect(await checks.check(SLOW, going)).toEqual({ tooMuch: true });
    computed.mockRestore();
    expect(took()).toBeGreaterThan(2_900);
  });

  it.each([
    [{ type: 'strin' }, 'invalidSchema'],
    [{ $schema: 'https://json-schema.org/draft/2019-09/schema', items: [{ type: 'string' }] }, 'faults'],
    [{ $async: true, type: 'string' }, 'faults'],
  ])('say of %j what it is', async (schema, verdict) =>
    expect(Object.keys(await checks.check({ schema, given: { value: ['a'] } }, going))).toEqual([verdict]),
  );
});
