import { SchemaChecks } from './schema-checks';

const SLOW = { schema: { pattern: '^(a+)+$' }, given: { value: `${'a'.repeat(60)}!` } };
const going = new AbortController().signal;

describe('checks of schemas from outside', () => {
  const checks = new SchemaChecks();
  afterAll(() => checks.close());

  it('go on behind one that takes for ever, in their order, without those whose callers left', async () => {
    const caller = new AbortController();
    const slow = checks.check(SLOW, going);
    const left = checks.check({ schema: {} }, caller.signal);
    const next = checks.check({ schema: { type: 'string' }, given: { value: 5 } }, going);
    caller.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    expect(await slow).toEqual({ tooMuch: true });
    expect(await next).toEqual({ faults: ['the value must be string'] });
  });

  it.each([
    [{ type: 'strin' }, 'invalidSchema'],
    [{ $schema: 'https://json-schema.org/draft/2019-09/schema', items: [{ type: 'string' }] }, 'faults'],
    [{ $async: true, type: 'string' }, 'faults'],
  ])('say of %j what it is', async (schema, verdict) =>
    expect(Object.keys(await checks.check({ schema, given: { value: ['a'] } }, going))).toEqual([verdict]),
  );
});
