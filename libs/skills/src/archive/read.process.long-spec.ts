import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** What a process that has read nothing yet, as that of each request, takes for a frontmatter that it rejects. */
const skill = (more: string) => `---\nname: a\n${more}\n---\nDo it.\n`;
const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');
const REJECTED: readonly (readonly [what: string, text: string])[] = [
  ['an engine', '---js\nname: a\n---\nx'],
  ['a tag', skill('description: !!js/function "x"')],
  ['an alias bomb', skill('a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\ndescription: d')],
  ['a merge bomb', skill('description: d\n<<: [{a: 1}, {b: 1}]')],
  ['a doubled key', skill('description: d\nlicense: MIT\nlicense: MIT')],
  ['no map', '---\n- name\n- description\n---\nx'],
  ['a scalar of 1 MB', skill(`description: "${'x'.repeat(1_000_000)}"`)],
  ['a scalar of 1 MB in a block', skill(`description: |\n${'  x\n'.repeat(250_000)}`)],
  ['depth 1,000', skill(`description: d\na: ${'['.repeat(1_000)}${']'.repeat(1_000)}`)],
  ['depth 1,000 in blocks', skill(`description: d\na:\n  ${'- '.repeat(1_000)}x`)],
  ['maps of 200 depths', skill(`description: d\na:\n${lines(200, (index) => `${' '.repeat(index + 1)}a:`)}`)],
  ['many keys', skill(`description: d\n${lines(1_200, (index) => `k${index}: 1`)}`)],
  ['many mistakes', skill(`description: d\na: {${','.repeat(3_900)}}`)],
  ['many comments', skill(`${'#\n'.repeat(1_900)}x`)],
];
const MOST_MS = 50;
const READER = `
const { readSkillText } = require(${JSON.stringify(join(__dirname, 'skill-text.ts'))});
const text = require('node:fs').readFileSync(0);
const before = process.threadCpuUsage();
try {
  readSkillText(text, 'a.md');
} catch ({ code }) {
  const { user, system } = process.threadCpuUsage(before);
  console.log(JSON.stringify({ code, milliseconds: (user + system) / 1000 }));
}`;

/** How often a process may be slow for another reason. */
const TRIES = 5;

it.each(REJECTED)('a process that starts rejects %s in 50 ms of its time', (_, text) => {
  // Of the thread that reads, without the compilers beside it: the least of five, or the first that is little enough.
  let least = Infinity;
  for (let tries = 0; tries < TRIES && least >= MOST_MS; tries += 1) {
    const { stdout, stderr } = spawnSync(
      process.execPath,
      ['--require', join(__dirname, '../../../../test/register.cjs'), '--eval', READER],
      { input: text, encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    const { code, milliseconds } = JSON.parse(stdout) as { readonly code: string; readonly milliseconds: number };
    expect(code).toBe('invalid_frontmatter');
    least = Math.min(least, milliseconds);
  }
  expect(least).toBeLessThan(MOST_MS);
});
