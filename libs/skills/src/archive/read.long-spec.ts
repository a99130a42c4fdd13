import childProcess, { type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { docxFile, xlsxFile, zipFile } from '../../../../test/fixtures/files/office';
import { type ForgedEntry, forgedZip } from '../../../../test/fixtures/files/forged-zip';
import { hostileSkills } from '../../../../test/fixtures/files/hostile-skills';
import { until } from '../../../../test/fixtures/until';
import { zipFiles } from '../../../../test/fixtures/zip-files';
import { contentHashOf } from './content-hash';
import { type ExportedSkill, skillArchive } from './export';
import { expectSkill, readSkill, readSkillArchive } from './read';
import { skillsIn } from './read-bytes';

const LIMITS = { files: 500, bytes: 100 * 1024 ** 2 };
const TEXT = '---\nname: invoice-check\ndescription: Checks invoices.\n---\n\nLook at the sum.\n';
const EXPORTED = { description: 'Checks.', instructions: 'Look.', frontmatter: {} };
const named = (name: string) => TEXT.replace('invoice-check', name);
const read = (zip: Buffer, name = 'a.zip', limits: Partial<typeof LIMITS> = {}) =>
  readSkill(zip, name, { ...LIMITS, ...limits });
const skill: ForgedEntry = { name: 'SKILL.md', body: TEXT };
const withSkill = (...entries: readonly ForgedEntry[]) => forgedZip([skill, ...entries]);
/** What tries the limits of the process itself, or ends it in the middle of a file. */
const IN_A_PROCESS = new Set([
  '1000:1',
  '1000:1 in small pieces',
  'more than it may have',
  'a size that is too small',
  'a size of 4 GiB',
  'entries modulo 65,536',
  'a nested archive',
  'no zip',
]);
/** All that the process would say of an archive. */
const said = async (zip: Buffer) => {
  const all: unknown[] = [];
  for await (const each of skillsIn(zip, { read: 'skill', filename: 'a.zip', limits: LIMITS })) all.push(each);
  return all;
};

describe('readSkill', () => {
  it('reads a SKILL.md', async () =>
    expect(await readSkill(Buffer.from(TEXT), 'check.md', LIMITS)).toEqual({
      path: 'check.md',
      name: 'invoice-check',
      slug: 'invoice-check',
      description: 'Checks invoices.',
      instructions: 'Look at the sum.',
      frontmatter: {},
      files: [],
      warnings: [],
    }));

  it.each([
    ['at the root', ''],
    ['in the one folder', 'check/'],
  ])('reads an archive with SKILL.md %s', async (_, folder) => {
    const zip = zipFile({
      [`${folder}SKILL.md`]: TEXT,
      [`${folder}templates/SKILL.md`]: 'not this one',
      [`${folder}assets/größe.csv`]: 'a,b',
      '__MACOSX/._SKILL.md': 'junk',
      [`${folder}.DS_Store`]: 'junk',
    });
    const { path, slug, files, warnings } = await read(zip, 'check.skill');
    expect({ path, slug, warnings }).toEqual({ path: `${folder}SKILL.md`, slug: 'invoice-check', warnings: [] });
    expect(files.map(({ bytes, ...file }) => ({ ...file, text: Buffer.from(bytes).toString() }))).toEqual([
      {
        path: 'assets/größe.csv',
        mediaType: 'text/csv',
        sizeBytes: 3,
        sha256: '1eb7c54d52831bbfe8942af0b1c56b7409523a59ed6ca99c1174fef7eb32c1b5',
        text: 'a,b',
      },
      expect.objectContaining({ path: 'templates/SKILL.md', mediaType: 'text/markdown', text: 'not this one' }),
    ]);
  });

  it('takes names of the code page of DOS, stored files and other cases of SKILL.md', async () => {
    const zip = forgedZip([
      { name: 'skill.md', body: TEXT, method: 0 },
      { name: Buffer.from([0x67, 0x72, 0x94, 0x2e, 0x74, 0x78, 0x74]), body: 'x', flags: 0 },
    ]);
    expect((await read(zip)).files.map(({ path }) => path)).toEqual(['grö.txt']);
  });

  it('keeps documents of office programs, and texts that only look like archives or devices', async () => {
    const files = {
      'assets/form.docx': docxFile([{ text: 'Form.' }]),
      'assets/sums.XLSX': xlsxFile({ S: [['1']] }),
      'assets/open.odt': zipFile({ mimetype: 'application/vnd.oasis.opendocument.text' }),
      'BZh9.md': 'BZh9 is how bzip2 begins.',
      'PK.md': 'PK\\x05\\x06 ends a zip, PK begins one.',
      'a~b/~c.md': 'A tilde.',
      'console.md': 'No device.',
      'aux-notes.md': 'No device either.',
      '.hidden/com.md': 'Nor this.',
    };
    const { files: got } = await read(zipFile({ 'SKILL.md': TEXT, ...files }));
    expect(got.map(({ path }) => path)).toEqual(Object.keys(files).toSorted());
  });

  it('reads as much as a Skill may have', async () => {
    const random = Buffer.from(Array.from({ length: 1024 ** 2 }, (_, i) => (i * 2_654_435_761) >>> 13));
    const files = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`files/${i}.bin`, random]));
    const { files: got } = await read(zipFile({ 'SKILL.md': TEXT, ...files }));
    expect(got).toHaveLength(20);
    expect(got.every(({ bytes }) => random.equals(bytes))).toBe(true);
  });

  const expectRefusal = (error: unknown, message: RegExp) =>
    expect(error).toMatchObject({
      code: expect.stringMatching(/^(invalid_archive|too_large)$/),
      message: expect.stringMatching(message),
    });

  // Each rule in the process of its own, too: `test/exhaustive/skills-hostile.spec.ts`.
  it.each(hostileSkills.filter(([kind]) => IN_A_PROCESS.has(kind)))('does not accept %s', async (_, zip, message) =>
    expectRefusal(await read(zip).catch((caught: unknown) => caught), message),
  );

  it.each(hostileSkills.filter(([kind]) => !IN_A_PROCESS.has(kind)))(
    'reads by the rules of its process, which do not accept %s',
    async (_, zip, message) => expectRefusal(await said(zip).catch((caught: unknown) => caught), message),
  );

  it.each([
    [
      'a million entries',
      forgedZip(Array.from({ length: 60_000 }, (_, i) => ({ name: `${i}` }))),
      /more than 10000 entries/,
    ],
    [
      '501 reference files',
      forgedZip([skill, ...Array.from({ length: 501 }, (_, i) => ({ name: `${i}` }))]),
      /more than 500 reference files/,
    ],
    ['a long SKILL.md', zipFile({ 'SKILL.md': `${TEXT}${'x'.repeat(50_000)}` }), /^SKILL.md: The instructions/],
  ])('finds %s too large', async (_, zip, message) =>
    expect(read(zip)).rejects.toMatchObject({ code: 'too_large', message: expect.stringMatching(message) }),
  );

  it('finds more bytes than it may have too large', async () => {
    await expect(
      read(zipFile({ 'SKILL.md': TEXT, a: Buffer.alloc(600_000, 'ab') }), 'a.zip', { bytes: 300_000 }),
    ).rejects.toMatchObject({ code: 'too_large' });
    await expect(read(Buffer.alloc(3_000_000, 'PK'), 'a.zip', { bytes: 1_000_000 })).rejects.toMatchObject({
      code: 'too_large',
    });
  });

  it.each([['a.txt'], ['a.zip'], ['a']])('does not accept a text called %s', (name) =>
    expect(readSkill(Buffer.from(TEXT), name, LIMITS)).rejects.toMatchObject({ code: 'invalid_archive' }),
  );

  it('names the file of an archive whose frontmatter is wrong', () =>
    expect(read(zipFile({ 'check/SKILL.md': '---js\n---\n' }))).rejects.toMatchObject({
      code: 'invalid_frontmatter',
      message: expect.stringMatching(/^check\/SKILL.md, line 1: /),
    }));
});

describe('readSkillArchive', () => {
  it('gives each SKILL.md its outcome, and files to the nearest', async () => {
    const { outcomes, ignored } = await readSkillArchive(
      zipFile({
        'README.md': 'of no Skill',
        'skills/b/SKILL.md': named('b'),
        'skills/b/notes.md': 'n',
        'skills/a/SKILL.md': named('a'),
        'skills/a/deep/x.md': 'x',
        'skills/a/inner/SKILL.md': named('inner'),
        'skills/a/inner/y.md': 'y',
        'skills/wrong/SKILL.md': '---\nname: wrong\n---\nx',
        'SKILL-notes.md': '',
        'skills/.DS_Store': 'junk',
      }),
      LIMITS,
    );
    expect(
      outcomes.map((outcome) =>
        outcome.ok ? [outcome.path, outcome.skill.slug, outcome.skill.files.map(({ path }) => path)] : outcome,
      ),
    ).toEqual([
      ['skills/a/SKILL.md', 'a', ['deep/x.md']],
      ['skills/a/inner/SKILL.md', 'inner', ['y.md']],
      ['skills/b/SKILL.md', 'b', ['notes.md']],
      {
        path: 'skills/wrong/SKILL.md',
        ok: false,
        code: 'invalid_frontmatter',
        message: expect.stringContaining('skills/wrong/SKILL.md, description: '),
      },
    ]);
    expect(ignored).toEqual(['README.md', 'SKILL-notes.md']);
  });

  it.each(['inner/SKILL.md', 'a/b/skill.md'])(
    'reads an export with the reference file %s as one Skill',
    async (path) => {
      const inner = Buffer.from(named('inner'));
      const files = [path, 'inner/y.md'].map((each) => ({ path: each, bytes: inner }));
      const skills = ['check', 'check-more'].map((slug) => ({ ...EXPORTED, name: slug, slug, files }));
      const zips = await Promise.all(skills.map(async (each) => zipFiles(await skillArchive(each))));
      const others = { 'other/SKILL.md': named('other'), 'other/inner/SKILL.md': named('inner') };
      const { outcomes, ignored } = await readSkillArchive(
        zipFile({ ...Object.assign({}, ...zips), ...others }),
        LIMITS,
      );
      expect(
        outcomes.map((outcome) => outcome.ok && [outcome.skill.slug, outcome.skill.files.map((file) => file.path)]),
      ).toEqual([
        ['check-more', [path, 'inner/y.md'].toSorted()],
        ['check', [path, 'inner/y.md'].toSorted()],
        ['other', []],
        ['inner', []],
      ]);
      expect(ignored).toEqual([]);
      const hashes = outcomes.map((outcome) => outcome.ok && contentHashOf(outcome.skill));
      const one = await readSkill(await skillArchive(skills[0] as ExportedSkill), 'a.zip', LIMITS);
      expect(hashes.slice(0, 2)).toEqual([contentHashOf(one), contentHashOf(one)]);
      expect(one.frontmatter).toEqual({});
    },
  );

  it('rejects an archive that lies, whatever else is in it', async () => {
    await expect(readSkillArchive(withSkill({ name: 'a', body: 'x', size: 3 }), LIMITS)).rejects.toMatchObject({
      code: 'invalid_archive',
    });
    await expect(readSkillArchive(zipFile({ 'a.md': '' }), LIMITS)).rejects.toMatchObject({ code: 'invalid_archive' });
    await expect(readSkillArchive(Buffer.from(TEXT), LIMITS)).rejects.toMatchObject({ code: 'invalid_archive' });
  });
});

describe('The process that reads Skills', () => {
  afterEach(() => void jest.restoreAllMocks());

  const started = () => {
    const spawned = jest.spyOn(childProcess, 'spawn');
    return () => spawned.mock.results.map(({ value }) => value as ChildProcess);
  };
  const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;
  const readOne = async () => (await readSkill(Buffer.from(TEXT), 'check.md', LIMITS)).slug;

  it('is started once while a Skill is being sent, and reads it', async () => {
    const processes = started();
    for (let times = 0; times < 3; times += 1) expectSkill();
    await until(() => processes().length === 1);
    await turn();
    expectSkill();
    expect(await readOne()).toBe('invoice-check');
    expect(processes()).toHaveLength(1);
    await until(() => processes().every(hasEnded));
  });

  it('ends where nothing is sent, and another reads where it was killed', async () => {
    const processes = started();
    expectSkill();
    await until(() => processes().length === 1);
    processes()[0]?.kill('SIGKILL');
    await until(() => processes().every(hasEnded));
    await turn();
    expect(await readOne()).toBe('invoice-check');
    expectSkill();
    await until(() => processes().length === 3);
    await until(() => processes().every(hasEnded));
  });

  it('ends with the process that started it', async () => {
    const script = `
      const childProcess = require('node:child_process');
      const { spawn } = childProcess;
      childProcess.spawn = (...given) => {
        const child = spawn(...given);
        console.log(child.pid);
        return child;
      };
      require(${JSON.stringify(join(__dirname, 'read.ts'))}).expectSkill();
      setTimeout(() => process.kill(process.pid, 'SIGKILL'), 500);`;
    const loader = join(__dirname, '../../../../test/register.cjs');
    const { signal, stdout } = childProcess.spawnSync(process.execPath, ['--require', loader, '--eval', script], {
      encoding: 'utf8',
    });
    expect([signal, Number(stdout) > 0]).toEqual(['SIGKILL', true]);
    await until(() => !isRunning(Number(stdout)));
  });
});

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
