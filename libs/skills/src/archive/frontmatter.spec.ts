import { processorTime } from '../../../../test/fixtures/processor-time';
import { FrontmatterBudget, readFrontmatter } from './frontmatter';
import { SkillFailure } from './skill';
import { readSkillText } from './skill-text';

const read = (text: string) => readSkillText(Buffer.from(text), 'SKILL.md');
const skill = (frontmatter: string) => `---\n${frontmatter}\n---\nDo it.\n`;
const described = (more: string) => skill(`name: a\n${more}`);

describe('a SKILL.md', () => {
  it('is name, description, instructions and other keys', () =>
    expect(
      read(
        skill(
          [
            'name: invoice-check # ours',
            'description: >-',
            '  Checks',
            '  invoices.',
            'license: MIT',
            'metadata: { version: "1.0" }',
            'allowed-tools: [Read, Bash]',
          ].join('\n'),
        ),
      ),
    ).toEqual({
      path: 'SKILL.md',
      name: 'invoice-check',
      slug: 'invoice-check',
      description: 'Checks invoices.',
      instructions: 'Do it.',
      frontmatter: { license: 'MIT', metadata: { version: '1.0' }, 'allowed-tools': ['Read', 'Bash'] },
      warnings: [],
    }));

  it.each([
    [
      'an unknown key',
      skill('name: a\ndescription: d\nversion: 1.0\nwhen: { now: true }'),
      ['unknown_key', 'unknown_key'],
      { frontmatter: { version: '1.0', when: { now: true } } },
    ],
    ['a byte order mark', `\ufeff${skill('name: a\ndescription: d')}`, ['byte_order_mark'], { description: 'd' }],
    ['CRLF', skill('name: a\ndescription: d').replaceAll('\n', '\r\n'), ['line_ends'], { instructions: 'Do it.' }],
    [
      'a name outside the grammar',
      skill('name: Größe: 2024!\ndescription: d'),
      ['unquoted_colon', 'name_outside_grammar'],
      { name: 'Größe: 2024!', slug: 'größe-2024' },
    ],
    ['a number for a name', skill('name: 2024\ndescription: 1.0'), [], { name: '2024', description: '1.0' }],
    [
      'an unquoted colon',
      skill('description: Use when: asked\nname: a'),
      ['unquoted_colon'],
      { description: 'Use when: asked' },
    ],
    [
      'an unquoted colon over lines',
      skill('description: Use\n  when: asked, and\n  then\nname: a'),
      ['unquoted_colon'],
      { description: 'Use when: asked, and then' },
    ],
    ['a colon at the end', skill('description: Use when:\nname: a'), ['unquoted_colon'], { description: 'Use when:' }],
    [
      'an odd value of a known key',
      skill('name: a\ndescription: d\nallowed-tools: { a: 1 }'),
      ['unusual_value'],
      { frontmatter: { 'allowed-tools': { a: 1 } } },
    ],
    ['hyphens in a value', skill('name: a\ndescription: a --- b'), [], { description: 'a --- b' }],
    [
      'names of what every object has',
      skill('name: a\ndescription: d\nconstructor: { prototype: { x: 1 } }\ntoString: t\nhasOwnProperty: h'),
      ['unknown_key', 'unknown_key', 'unknown_key'],
      { frontmatter: { constructor: { prototype: { x: 1 } }, toString: 't', hasOwnProperty: 'h' } },
    ],
    [
      'trailing spaces after the hyphens',
      '--- \nname: a\ndescription: d\n---\t\nDo it.',
      [],
      { instructions: 'Do it.' },
    ],
  ])('takes %s as it is meant', (_, text, codes, expected) => {
    const { warnings, ...read_ } = read(text);
    expect(warnings.map(({ code }) => code)).toEqual(codes);
    expect(warnings.every(({ path, message }) => path === 'SKILL.md' && message !== '')).toBe(true);
    expect(read_).toMatchObject(expected);
  });

  const many = (count: number, line: (index: number) => string) =>
    Array.from({ length: count }, (_, i) => line(i)).join('\n');

  it.each<readonly [string, string, RegExp]>([
    ['an engine', '---js\nname: a\n---\nx', /^SKILL.md, line 1: /],
    ['no frontmatter', 'Just text.', /^SKILL.md, line 1: Begin/],
    ['nothing', '', /^SKILL.md, line 1: /],
    ['no end', '---\nname: a\ndescription: d\n', /does not end/],
    ['a tag', described('description: !!js/function "x"'), /^SKILL.md, line 3: Tags/],
    ['a plain tag', described('description: !!str x'), /line 3: Tags/],
    ['an alias bomb', described(`a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\ndescription: d`), /line 3: Anchors/],
    ['an alias', described('description: *a'), /line 3: Aliases/],
    ['a merge bomb', described('description: d\n<<: [{a: 1}, {b: 1}]'), /^SKILL.md, line 4, <<: /],
    ['a doubled key', described('description: d\nlicense: MIT\nlicense: MIT'), /^SKILL.md, line 5, license: .*twice/],
    ['a doubled key further down', described('description: d\nmetadata:\n  x: 1\n  x: 2'), /line 6, x: .*twice/],
    ['a prototype', described('description: d\n__proto__: { a: 1 }'), /line 4, __proto__: /],
    ['a prototype further down', described('description: d\nmetadata:\n  __proto__: { a: 1 }'), /line 5, __proto__: /],
    ['no map', skill('- name\n- description'), /line 2: .*no map/],
    ['a text', skill('name'), /no map/],
    ['nothing in it', '---\n---\nx', /no map/],
    [
      'a scalar of 1 MB',
      described(`description: ${'x'.repeat(1_000_000)}`),
      /^SKILL.md, line 3, description: The frontmatter has more than 32768 bytes/,
    ],
    [
      'a scalar of 1 MB over lines',
      described(`description: |\n${'  ä\n'.repeat(200_000)}license: MIT`),
      /^SKILL.md, line 3, description: The frontmatter has more than 32768 bytes/,
    ],
    [
      'more than 32 KiB that fit elsewhere',
      described(`description: d\n${'# ä\n'.repeat(10)}license: ${'x'.repeat(40_000)}`),
      /^SKILL.md, line 14, license: The frontmatter has more than 32768 bytes/,
    ],
    ['no end in 1 MB', `---\nname: a\n\n${'Do it.\n'.repeat(150_000)}`, /more than 32768 bytes.*end it with .*`---`/],
    ['NUL in 1 MB', described(`description: \0${'x'.repeat(1_000_000)}`), /line 3: .*NUL/],
    ['depth 1,000', described(`description: d\na: ${'['.repeat(1_000)}${']'.repeat(1_000)}`), /line 4: .*nested/],
    ['depth 1,000 in blocks', described(`description: d\na:\n  ${'- '.repeat(1_000)}x`), /^SKILL.md, line 5: .*nested/],
    [
      'maps of 1,000 depths',
      described(`description: d\na:\n${many(1_000, (i) => `${' '.repeat(i + 1)}a:`)}`),
      /^SKILL.md, line \d+: Values are nested more than 16 deep/,
    ],
    ['maps of 200 depths', described(`description: d\na:\n${many(200, (i) => `${' '.repeat(i + 1)}a:`)}`), /nested/],
    ['many keys', described(many(8_000, (i) => `k${i}: 1`)), /^SKILL.md, line 573, k570: .* 4000 words and signs/],
    ['many keys that fit', described(many(3_500, (i) => `k${i}:`)), /^SKILL.md, line \d+, k\d+: .* 4000 words/],
    ['many mistakes', described(`a: {${','.repeat(30_000)}}`), /^SKILL.md, line 3, a: .* 4000 words/],
    ['many mistakes that fit', described(`a: {${','.repeat(3_900)}}`), /line 3: /],
    ['many comments that fit', described(`${'#\n'.repeat(1_900)}x`), /line 1903: /],
    ['many quotes', described('"'.repeat(30_000)), /SKILL.md/],
    ['many comments', described('#\n'.repeat(15_000)), /^SKILL.md, line \d+, name: .* 4000 words/],
    ['keys with ?', described('? description\n: d'), /line 3: Keys/],
    ['a directive', skill('%YAML 1.1\nname: a'), /line 2: /],
    ['a list for a key', described('[a]: b\ndescription: d'), /line 3: A key/],
    ['two documents', described('description: d\n...\nb: 1'), /line 4: /],
    ['no name', skill('description: d'), /^SKILL.md, name: .*missing/],
    ['no description', skill('name: a'), /^SKILL.md, description: .*missing/],
    ['an empty description', described('description:'), /^SKILL.md, line 3, description: .*empty/],
    ['a list for a description', described('description: [a]'), /line 3, description: .*text/],
    ['a long description', described(`description: ${'x'.repeat(1_025)}`), /line 3, description: .*1024/],
    ['a name in two scripts', skill('name: p\u0430ypal\ndescription: d'), /line 2, name: .*script/],
    ['a long name', skill(`name: ${'x'.repeat(65)}\ndescription: d`), /line 2, name: /],
    ['a name to deceive', skill('name: "a\\u202eb"\ndescription: d'), /line 2, name: /],
    ['tabs', skill('name: a\n\tdescription: d'), /SKILL.md, line 3: /],
    ['no instructions', '---\nname: a\ndescription: d\n---\n \n', /No instructions/],
    ['NUL', described('description: "\0"'), /line 3: .*NUL/],
    [
      'long kept keys',
      described(`description: d\nb: ${'x'.repeat(100)}\na: ${'x'.repeat(9_000)}\nc: d`),
      /^SKILL.md, line 5, a: .*8192/,
    ],
    [
      'long kept keys that an export wrote',
      described(
        `description: d\nmetadata:\n  agent-platform: '${JSON.stringify({ frontmatter: { a: 'x'.repeat(9_000) } })}'`,
      ),
      /^SKILL.md, line 4, metadata: .*8192/,
    ],
  ])('is not accepted with %s', (_, text, message) => {
    // The least of three: the processor time of a process counts its garbage collector as well.
    const took = [1, 2, 3].map(() => {
      const milliseconds = processorTime();
      const error = failure(() => read(text));
      const spent = milliseconds();
      expect(error).toMatchObject({ code: 'invalid_frontmatter', message: expect.stringMatching(message) });
      return spent;
    });
    expect(Math.min(...took)).toBeLessThan(50);
  });

  it('is UTF-8', () =>
    expect(
      failure(() => readSkillText(Buffer.from('---\nname: a\ndescription: \xe4\n---\nx', 'latin1'), 'a/SKILL.md')),
    ).toMatchObject({
      code: 'invalid_frontmatter',
      message: 'a/SKILL.md, line 3: This is not UTF-8. Save the file as UTF-8.',
    }));

  it('has at most 50,000 characters of instructions', () => {
    expect(read(`${skill('name: a\ndescription: d')}${'ä'.repeat(49_000)}`).instructions).toHaveLength(49_007);
    expect(failure(() => read(`${skill('name: a\ndescription: d')}${'x'.repeat(50_000)}`))).toMatchObject({
      code: 'too_large',
    });
    expect(failure(() => read(`${skill('name: a\ndescription: d')}${'x'.repeat(1_000_000)}`))).toMatchObject({
      code: 'too_large',
    });
  });
});

const failure = (work: () => unknown): unknown => {
  try {
    return work();
  } catch (error) {
    return error;
  }
};

it('Frontmatters of one archive have words and signs together, and none is read once they are spent', () => {
  const budget = new FrontmatterBudget();
  // Seven for each line: key, colon, space, value, end, and a mark before each of the two scalars.
  const text = described(`description: d\n${Array.from({ length: 398 }, (_, index) => `k${index}: 1`).join('\n')}`);
  const outcomes = Array.from({ length: 40 }, (_, index) => {
    try {
      return readFrontmatter(text.slice(4, text.indexOf('\n---')), `${index}.md`, budget).values['name'];
    } catch (error) {
      return error;
    }
  });
  expect(outcomes.slice(0, 35)).toEqual(Array.from({ length: 35 }, () => 'a'));
  const spent = { code: 'too_large', message: expect.stringMatching(/^39.md: .* 100000 words and signs/) };
  expect(outcomes.at(-1)).toMatchObject(spent);
  expect(outcomes.slice(36).every((outcome) => outcome instanceof SkillFailure)).toBe(true);
});

it('A SKILL.md of many lines is taken apart no further than its frontmatter', () => {
  const [split, joined] = [jest.spyOn(String.prototype, 'split'), jest.spyOn(Array.prototype, 'join')];
  expect(read(`${described('description: d')}${'\n'.repeat(200_000)}`).instructions).toBe('Do it.');
  const lines = [
    ...split.mock.results.map(({ value }) => value as readonly string[]),
    ...joined.mock.contexts.map((context) => context as readonly string[]),
  ].reduce((sum, each) => sum + each.length, 0);
  jest.restoreAllMocks();
  expect(lines).toBeLessThan(1_000);
});

it.each([
  ['---\n---\nx', /no map/],
  ['---', /does not end/],
  ['---\nname: a\n', /does not end/],
  ['---\nname: a\n----\n --- \n', /does not end/],
  ['----\nname: a\n---\n', /Begin the file/],
  ['\n---\nname: a\n---\n', /Begin the file/],
  ['--- \nname: a\ndescription: d\n---\t', /No instructions/],
])('A frontmatter stands between its lines: %j', (text, message) => expect(() => read(text)).toThrow(message));
