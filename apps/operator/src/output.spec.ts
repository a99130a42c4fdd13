import { count, duration, outputTo, table } from './output';
import { progressBar } from './progress-bar';

describe('table', () => {
  it('makes columns as wide as their widest cell and puts numbers right', () => {
    expect(
      table(
        [
          { name: 'agents', rows: 7 },
          { name: 'spaces', rows: 12_000 },
        ],
        { name: ({ name }) => name, rows: ({ rows }) => rows },
      ),
    ).toEqual(['NAME    ROWS', 'agents       7', 'spaces  12,000']);
  });

  it('says when there is nothing', () => expect(table([], { name: () => 'x' })).toEqual(['(none)']));
});

describe('progressBar', () => {
  it('shows share, count, rate and what is left', () => {
    expect(progressBar('agents', { done: 1_000, total: 4_000, rate: 500.4, etaSeconds: 6 })).toBe(
      'agents  [######------------------]   25 %  1,000/4,000  500/s  ETA 6.0 s',
    );
  });

  it('is full when there is nothing to do', () => expect(progressBar('x', { done: 0, total: 0 })).toContain('100 %'));
  it('is empty while the total is not known', () =>
    expect(progressBar('x', { done: 5, total: null })).toContain('  0 %'));
});

test.each([
  [0.44, '0.4 s'],
  [12.4, '12 s'],
  [185, '3 min 5 s'],
])('%d seconds read %s', (seconds, text) => expect(duration(seconds)).toBe(text));
test('numbers are grouped by thousands', () => expect(count(1_234_567.89)).toBe('1,234,567.9'));

describe('output', () => {
  const written = (isTTY: boolean, json: boolean) => {
    const texts = { out: '', err: '' };
    const output = outputTo(
      { stdout: { write: (text) => (texts.out += text) }, stderr: { isTTY, write: (text) => (texts.err += text) } },
      json,
    );
    return { texts, output };
  };

  it('prints results as JSON where asked to, progress on standard error', () => {
    const { texts, output } = written(false, true);
    for (const line of ['a third', 'two thirds', 'all']) output.progress(line);
    output.progressDone();
    output.result({ a: 1 }, () => ['for people']);
    expect(texts).toEqual({ out: '{"a":1}\n', err: 'a third\nall\n' });
  });

  it.each([
    ['\u001b[2J\u001b[HThe log is as it was sealed', String.raw`\u001b[2J\u001b[HThe log is as it was sealed`],
    ['a\nThe log is as it was sealed', String.raw`a\u000aThe log is as it was sealed`],
    ['a\r\u009b2K\u2028\u202eb\u{e0041}', String.raw`a\u000d\u009b2K\u2028\u202eb\udb40\udc41`],
    ['K\u00fcche \u{1f600} \\', 'K\u00fcche \u{1f600} \\'],
  ])('shows of %j what a terminal would obey, and forges no line', (said, shown) => {
    const { texts, output } = written(false, false);
    output.heading(said);
    output.result(said, (line) => [line]);
    output.note(said);
    output.progress(said);
    output.progressDone();
    expect(texts).toEqual({ out: `${shown}\n${shown}\n`, err: `${shown}\n${shown}\n` });
    const asJson = written(false, true);
    asJson.output.result({ said }, () => []);
    expect(asJson.texts.out).not.toMatch(/[\p{Cc}\p{Zl}\p{Bidi_Control}](?!$)/u);
    expect(JSON.parse(asJson.texts.out)).toEqual({ said });
  });

  it('replaces the line of progress on a terminal', () => {
    const { texts, output } = written(true, false);
    output.progress('longer');
    output.progress('short');
    output.progressDone();
    expect(texts.err).toBe('\rlonger\rshort \n');
  });
});
