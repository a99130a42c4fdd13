import { sizeOf } from './size-of';

describe('sizeOf', () => {
  it.each<[string, unknown]>([
    ['a text', 'x'.repeat(10_000)],
    ['texts in lists and objects', { a: [{ b: 'x'.repeat(5_000) }, 'x'.repeat(5_000)] }],
    ['texts in maps and sets', new Map([['x'.repeat(5_000), new Set(['x'.repeat(5_000)])]])],
    ['bytes', { key: Buffer.alloc(10_000) }],
  ])('sees %s', (_, value) => {
    expect(sizeOf(value)).toBeGreaterThan(10_000);
    expect(sizeOf(value)).toBeLessThan(10_500);
  });

  it('counts once what is held twice, also by itself, and a chain of any length', () => {
    const text = { text: 'x'.repeat(1_000) };
    expect(sizeOf([text, text, text])).toBeLessThan(1_300);
    const circle: { self?: object } = {};
    circle.self = circle;
    expect(sizeOf(circle)).toBeLessThan(200);
    let chain: object | undefined;
    for (let n = 0; n < 100_000; n += 1) chain = { chain };
    expect(sizeOf(chain)).toBeGreaterThan(100_000);
  });
});
