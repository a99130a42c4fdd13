import fc from 'fast-check';
import { chunk, DONE, escaped, usageChunk, USAGE } from '../../../../test/fixtures/upstream-double';
import { ChatStream, type ChatStreamOptions } from './chat-stream';

const event = (data: object | string): string => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const said = (content: string, rest: object = {}): object => chunk({ content }, null, 'm', rest);
const STOP = chunk({}, 'stop', 'm');
const COUNTED = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

/** A chunk whose usage is to be taken out, nested so deeply. Keys that are numbers are what the engine writes by recursion. */
const nested = (depth: number): string =>
  `{"id":"x","choices":[{"index":0,"delta":{"content":"b"}}],"usage":{"total_tokens":1},"deep":${'{"0":'.repeat(depth)}1${'}'.repeat(depth)},"model":"m"}`;

const pass = (pieces: readonly string[], options: Partial<ChatStreamOptions> = {}) => {
  const stream = new ChatStream({ model: 'm', includeUsage: false, usage: () => null, ...options });
  const out = pieces.map((piece) => stream.accept(piece)).join('') + stream.end();
  return { out, broken: stream.broken, characters: stream.characters, report: stream.report };
};

describe('a stream of chunks', () => {
  it('passes byte for byte, however it is cut', () => {
    const whole =
      [
        chunk({ role: 'assistant', content: '' }, null, 'm'),
        said('Gr\u00c3\u00bc\u00c3\u009fe {"a":"\\"}'),
        chunk({ tool_calls: [{ index: 0, function: { arguments: 'data: [DONE]' } }] }, null, 'm'),
        STOP,
      ]
        .map(event)
        .join('') + DONE;
    fc.assert(
      fc.property(fc.array(fc.nat(whole.length), { maxLength: 12 }), (places) => {
        const cuts = [0, ...places.toSorted((a, b) => a - b), whole.length];
        expect(pass(cuts.slice(1).map((end, index) => whole.slice(cuts[index], end)))).toMatchObject({
          out: whole,
          broken: false,
        });
      }),
    );
  });

  it('takes no chunk for another that only looks like one before', () => {
    const alike = said('aa');
    const texts = ['b', '', 'quoted "b"', 'b","role":"x', 'back\\slash', 'line\nbreak', '"},"finish_reason":"stop'];
    const good = [alike, ...texts.map((text) => said(text)), said('c', { extra: 1 }), said('d'), STOP];
    expect(pass([good.map((one) => event({ ...one, usage: null })).join('') + DONE])).toEqual({
      out: good.map(event).join('') + DONE,
      broken: false,
      characters: 2 + texts.join('').length + 2,
      report: undefined,
    });
    const cut = event(alike).replace('aa', 'a"a');
    expect(pass([event(alike), cut])).toMatchObject({ out: event(alike), broken: true });
  });

  it.each(['\n', '\r\n', '\r'])('understands line ends %j', (end) => {
    const text = [said('a'), STOP].map(event).join('') + DONE;
    for (const cut of [/(?<=\r)/, /(?=\n)/, ''])
      expect(pass(text.replaceAll('\n', end).split(cut))).toMatchObject({ out: text, broken: false });
  });

  it('puts an event together once, however many lines it has and however these come', () => {
    const stream = new ChatStream({ model: 'm', includeUsage: false, usage: () => null });
    const copied = jest.spyOn(Buffer, 'from');
    for (let line = 0; line < 500; line += 1) for (const piece of [': more ', 'to come', '\n']) stream.accept(piece);
    const copies = copied.mock.calls.length;
    copied.mockRestore();
    const text = event(said('a'));
    expect([copies, stream.accept(text.slice(0, -1)), stream.accept('\n')]).toEqual([0, '', text]);
  });

  it('passes an event on at its empty line, of carriage returns too', () => {
    const stream = new ChatStream({ model: 'm', includeUsage: false, usage: () => null });
    const text = event(said('a'));
    expect(stream.accept(text.replaceAll('\n', '\r'))).toBe(text);
  });

  it('loses usage where nobody asked for it, wherever it stands', () => {
    const chunks = [said('"usage":null', { usage: null }), said('b', { usage: USAGE }), STOP, usageChunk(USAGE, 'm')];
    expect(pass([...chunks.map(event), DONE])).toEqual({
      out: [said('"usage":null'), said('b'), STOP].map(event).join('') + DONE,
      broken: false,
      characters: 13,
      report: USAGE,
    });
  });

  it('has one usage chunk at its end where somebody did, wherever it stood', () => {
    const right = [said('a', { usage: null }), STOP, usageChunk(USAGE, 'm')].map(event).join('') + DONE;
    expect(pass([right], { includeUsage: true }).out).toBe(right);
    const early =
      [usageChunk(USAGE, 'm'), said('a', { usage: USAGE }), { ...STOP, usage: USAGE }, { id: 'x', usage: USAGE }]
        .map(event)
        .join('') + DONE;
    const late =
      [said('a', { usage: null }), { ...STOP, usage: null }, usageChunk(USAGE, 'm')].map(event).join('') + DONE;
    expect(pass([early], { includeUsage: true }).out).toBe(late);
  });

  it('gets a usage chunk where none came, or one that cannot be', () => {
    const made = event({
      id: 'chatcmpl-1',
      created: 1_741_569_952,
      object: 'chat.completion.chunk',
      model: 'm',
      choices: [],
      usage: COUNTED,
    });
    for (const reported of ['', event(usageChunk({ prompt_tokens: -5 }, 'm'))]) {
      expect(
        pass([event(said('a')), event(STOP), reported, DONE], { includeUsage: true, usage: () => COUNTED }).out,
      ).toBe(event(said('a')) + event(STOP) + made + DONE);
    }
  });

  it('keeps what was reported where what is reported behind it cannot be', () => {
    const believes = (report: unknown): boolean => JSON.stringify(report) === JSON.stringify(USAGE);
    const chunks = [said('a', { usage: null }), STOP, usageChunk(USAGE, 'm')];
    for (const lie of [{}, [], 'none', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }])
      expect(pass([...chunks, usageChunk(lie, 'm')].map(event), { includeUsage: true, believes })).toMatchObject({
        out: chunks.map(event).join('') + DONE,
        report: USAGE,
      });
  });

  it('names the model as the client does', () => {
    const other = chunk({ content: '\\"model\\":\\"x\\"' }, null, 'acme-1');
    expect(pass([event(other), event(STOP), DONE]).out).toBe(event({ ...other, model: 'm' }) + event(STOP) + DONE);
    expect(pass([event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }), DONE]).out).toContain(
      '"model":"m"',
    );
  });

  it('leaves usage and models alone that stand elsewhere in a chunk', () => {
    const choice = { index: 0, delta: { content: 'a' }, finish_reason: null, usage: null };
    const chunks = [
      { id: 'x', served: { by: 'acme', model: 'acme-1' }, choices: [choice], model: 'acme-1', usage: null },
      { id: 'x', choices: [choice], model: 'm', usage: null },
    ];
    const read = (out: string) =>
      out
        .split('\n\n')
        .slice(0, -1)
        .map((one) => JSON.parse(one.slice(6)) as object);
    expect(read(pass(chunks.map(event)).out)).toEqual(chunks.map((one) => ({ ...one, model: 'm', usage: undefined })));
    expect(read(pass(chunks.map(event), { includeUsage: true }).out)).toEqual(
      chunks.map((one) => ({ ...one, model: 'm' })),
    );
  });

  it.each([
    ['m', {}],
    ['acmé', {}],
    ['m', { usage: null }],
    ['acmé', { usage: USAGE }],
  ])('says the same however its provider writes characters (model %s, %j)', (model, rest) => {
    const texts = ['Grüße ', '• ', '你好 ', 'plain', '🙂', '\\u2022'];
    const spaced = (one: object): string => `data: ${escaped(JSON.stringify(one)).replaceAll('":', '": ')}\n\n`;
    for (const write of [
      spaced,
      (one: object) => event(escaped(JSON.stringify(one))),
      (one: object) => Buffer.from(event(one)).toString('latin1'),
    ]) {
      const { out, broken } = pass(
        [
          ...texts.map((text) => write(chunk({ content: text }, null, model, rest))),
          write(chunk({}, 'stop', model, rest)),
          DONE,
        ],
        { model: 'ö' },
      );
      const read = Buffer.from(out, 'latin1')
        .toString()
        .split('\n\n')
        .slice(0, -2)
        .map((one) => JSON.parse(one.slice(5)) as object);
      expect([broken, read]).toEqual([
        false,
        [...texts.map((text) => chunk({ content: text }, null, 'ö')), chunk({}, 'stop', 'ö')],
      ]);
    }
  });

  it('drops comments, ids and empty chunks, and puts data of several lines into one', () => {
    const [before, after] = JSON.stringify(said('a')).split(/(?<="choices":)/) as [string, string];
    const text = `: hello\n\nid: 7\nevent: message\nretry: 5\ndata: ${before}\ndata: ${after}\n\n${event({ id: '', choices: [], prompt_filter_results: [] })}data:${JSON.stringify(STOP)}\n\n${DONE}`;
    expect(pass([text]).out).toBe(`${event(said('a'))}data:${JSON.stringify(STOP)}\n\n${DONE}`);
  });

  it('may begin with a byte order mark, which is not passed on', () => {
    const whole = [said('a'), STOP].map(event).join('') + DONE;
    for (const mark of ['\u00ef\u00bb\u00bf', '\u00ef\u00bb\u00bf: hello\n', '\u00ef\u00bb\u00bf\n\n'])
      expect(pass((mark + whole).split(/(?=\n)/))).toMatchObject({ out: whole, broken: false });
    expect(pass([event(said('a')), `\u00ef\u00bb\u00bf${event(STOP)}`])).toMatchObject({
      out: event(said('a')),
      broken: true,
    });
  });

  it('is given the end that it lacks', () => {
    expect(pass([event(said('a')), event(STOP)])).toMatchObject({
      out: event(said('a')) + event(STOP) + DONE,
      broken: false,
    });
    expect(pass([event(said('a')), event(STOP).trimEnd()])).toMatchObject({
      out: event(said('a')) + event(STOP) + DONE,
      broken: false,
    });
  });

  it.each([
    ['ends without saying why', ''],
    ['says it is done without saying why', DONE],
    ['holds an error', event({ error: { message: 'key sk-1 at http://internal' } })],
    ['holds garbage', event('{nonsense')],
    ['holds a line that is no event', 'Internal Server Error\n\n'],
    ['holds something else', event('[1]')],
    ['holds a choice that is none', event({ choices: [null] })],
    ['is nested too deeply to be written anew', event(nested(200_000))],
    ['holds an endless line', `data: ${'x'.repeat(16 * 1024 * 1024)}`],
  ])('is broken where it %s, and what came before has passed', (_, bad) => {
    expect(pass([event(said('a')), bad])).toMatchObject({ out: event(said('a')), broken: true });
  });

  it('is broken where no chunk has a reason to finish but an empty one, which some providers give to all', () => {
    const unfinished = event(chunk({ content: 'a' }, '', 'm'));
    for (const end of [DONE, '']) expect(pass([unfinished, end])).toMatchObject({ out: unfinished, broken: true });
    expect(pass([unfinished, event(STOP), DONE])).toMatchObject({
      out: unfinished + event(STOP) + DONE,
      broken: false,
    });
  });

  it('may be nested as deeply as anybody nests, whatever stands in its strings', () => {
    const brackets = '[{\\"['.repeat(1_000);
    const text = nested(900).replace('"b"', `"${brackets}"`);
    expect(pass([event(text), event(STOP), DONE]).out).toBe(
      event(text.replace('"usage":{"total_tokens":1},', '')) + event(STOP) + DONE,
    );
  });

  it('takes nothing behind its end', () =>
    expect(pass([event(STOP) + DONE + event(said('more'))]).out).toBe(event(STOP) + DONE));
});
