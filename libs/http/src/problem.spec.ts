import { InvalidInput } from './invalid-input';
import { problemOf } from './problem';

describe('the detail of a body that is wrong', () => {
  const fault = (path: string, message = 'Must not be empty.') => ({ path, code: 'custom', message });
  const detailOf = (...faults: ReturnType<typeof fault>[]) =>
    problemOf(new InvalidInput('invalid_body', faults)).detail;

  it('counts the fields that are wrong beside the first, not what is wrong with each', () => {
    expect(detailOf(fault('name'), fault('name', 'Must have a visible character.'))).toBe('name must not be empty.');
    expect(detailOf(fault('name'), fault('name'), fault('text'), fault('text'))).toBe(
      'name must not be empty. 1 more field is wrong: see errors.',
    );
    expect(detailOf(fault('name'), fault('text'), fault('files[0].path'))).toBe(
      'name must not be empty. 2 more fields are wrong: see errors.',
    );
  });
});
