import { changesBetween } from './changes';

describe('changesBetween', () => {
  it('names each leaf that differs by its path', () => {
    const before = {
      name: 'A',
      sampling: { temperature: { enabled: false, value: null }, topP: { enabled: false, value: null } },
    };
    const after = {
      name: 'A',
      sampling: { temperature: { enabled: true, value: 0.2 }, topP: { enabled: false, value: null } },
    };
    expect(changesBetween(before, after)).toEqual([
      { path: 'sampling.temperature.enabled', before: false, after: true },
      { path: 'sampling.temperature.value', before: null, after: 0.2 },
    ]);
  });

  it('compares lists item by item at equal length, and as a whole otherwise', () => {
    expect(changesBetween({ tags: [{ name: 'a' }, { name: 'b' }] }, { tags: [{ name: 'a' }, { name: 'c' }] })).toEqual([
      { path: 'tags[1].name', before: 'b', after: 'c' },
    ]);
    expect(changesBetween({ tags: ['a'] }, { tags: ['a', 'b'] })).toEqual([
      { path: 'tags', before: ['a'], after: ['a', 'b'] },
    ]);
  });

  it('shows creation and removal as changes from and to nothing', () => {
    expect(changesBetween(null, { name: 'A' })).toEqual([{ path: 'name', before: null, after: 'A' }]);
    expect(changesBetween({ name: 'A' }, null)).toEqual([{ path: 'name', before: 'A', after: null }]);
  });

  it('takes erased content as one value', () => {
    expect(changesBetween({ name: { erased: true } }, { name: { text: 'A' } })).toEqual([
      { path: 'name', before: { erased: true }, after: { text: 'A' } },
    ]);
  });

  it('finds no change between equal states, whatever the order of their members', () => {
    expect(changesBetween({ a: 1, b: { c: [1, { d: 2 }] } }, { b: { c: [1, { d: 2 }] }, a: 1 })).toEqual([]);
    expect(changesBetween({ a: 1 }, { a: 1, b: null })).toEqual([]);
  });
});
