import { zipFile } from '../../../../test/fixtures/files/office';
import { extraField, type ForgedEntry, forgedZip } from '../../../../test/fixtures/files/forged-zip';
import { readSkill, readSkillArchive } from './read';

const LIMITS = { files: 500, bytes: 100 * 1024 ** 2 };
const TEXT = '---\nname: invoice-check\ndescription: Checks invoices.\n---\n\nLook at the sum.\n';
const named = (name: string) => TEXT.replace('invoice-check', name);
const read = (zip: Buffer, name = 'a.zip', limits: Partial<typeof LIMITS> = {}) =>
  readSkill(zip, name, { ...LIMITS, ...limits });
const skill: ForgedEntry = { name: 'SKILL.md', body: TEXT };
const withSkill = (...entries: readonly ForgedEntry[]) => forgedZip([skill, ...entries]);
const zeros = (bytes: number) => Buffer.alloc(bytes);

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

  it('reads as much as a Skill may have', async () => {
    const random = Buffer.from(Array.from({ length: 1024 ** 2 }, (_, i) => (i * 2_654_435_761) >>> 13));
    const files = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`files/${i}.bin`, random]));
    const { files: got } = await read(zipFile({ 'SKILL.md': TEXT, ...files }));
    expect(got).toHaveLength(20);
    expect(got.every(({ bytes }) => random.equals(bytes))).toBe(true);
  });

  it.each<readonly [string, Buffer, RegExp]>([
    ['1000:1', withSkill({ name: 'bomb.txt', body: zeros(20 * 1024 ** 2) }), /^bomb.txt: It would inflate/],
    [
      '1000:1 in small pieces',
      withSkill(...Array.from({ length: 90 }, (_, i) => ({ name: `${i}`, body: zeros(1024 ** 2) }))),
      /^It would inflate/,
    ],
    [
      'more than it may have',
      withSkill(...Array.from({ length: 5 }, (_, i) => ({ name: `${i}`, method: 0, size: 24 * 1024 ** 2, body: 'x' }))),
      /^/,
    ],
    [
      'a size that is too small',
      withSkill({ name: 'a.txt', body: zeros(100_000), size: 10 }),
      /^a.txt: Its bytes are damaged, or more/,
    ],
    ['a size that is too large', withSkill({ name: 'a.txt', body: 'abc', size: 10 }), /^a.txt: Its bytes are not/],
    ['a size of 4 GiB', withSkill({ name: 'a.txt', body: 'abc', size: 0xfffffffe }), /^a.txt: The file has more/],
    ['a wrong checksum', withSkill({ name: 'a.txt', body: 'abc', listed: { crc: 1 } }), /^a.txt: Its own header/],
    [
      'bytes behind what inflates',
      withSkill({ name: 'a.txt', body: 'abc', method: 8, listed: { packed: 4 } }),
      /^a.txt: Its own header/,
    ],
    [
      'a nested archive',
      withSkill({ name: 'more.zip', body: zipFile({ 'SKILL.md': TEXT }) }),
      /^more.zip: This is an archive/,
    ],
    [
      'overlapping entries',
      withSkill({ ...skill, name: 'b.md', localName: 'SKILL.md', at: 0 }),
      /^b.md: Its own header/,
    ],
    ['one body for two entries', forgedZip([skill, { ...skill, at: 0 }]), /^SKILL.md: Another entry/],
    ['an entry within another', overlapping(), /^inner.txt: This entry overlaps/],
    [
      'bytes between entries',
      forgedZip([skill, { name: 'b' }], { between: Buffer.from('hidden') }),
      /^b: Bytes stand before/,
    ],
    [
      'a zip64 end',
      forgedZip([skill], { beforeEnd: Buffer.concat([zeros(56), Buffer.from('PK\x06\x07'), zeros(16)]) }),
      /This is/,
    ],
    ['a zip64 entry', withSkill({ name: 'a', extra: extraField(1, zeros(16)) }), /^a: This is a zip64/],
    ['fewer entries than there are', forgedZip([skill, { name: 'b' }], { count: 1 }), /other entries than it counts/],
    ['more entries than there are', forgedZip([skill], { count: 3 }), /damaged/],
    [
      'entries modulo 65,536',
      forgedZip(
        Array.from({ length: 65_537 }, (_, i) => ({ name: `${i}` })),
        { count: 1 },
      ),
      /other entries than/,
    ],
    ['..', withSkill({ name: '../a' }), /^\.\.\/a: This entry has a path with/],
    ['.. further down', withSkill({ name: 'a/../../x' }), /^a\/\.\.\/\.\.\/x: This entry has a path with/],
    ['a backslash', withSkill({ name: '..\\a' }), /backslash/],
    ['an absolute path', withSkill({ name: '/etc/passwd' }), /absolute/],
    ['a drive', withSkill({ name: 'C:x' }), /absolute/],
    ['NUL', withSkill({ name: 'a\0.md' }), /^a\ufffd.md: .*invisible/],
    ['a name to deceive', withSkill({ name: 'a\u202egpj.exe' }), /invisible/],
    ['a symbolic link', withSkill({ name: 'a', body: '/etc/passwd', mode: 0o120777 }), /^a: This is a symbolic link/],
    [
      'a hard link',
      withSkill({ name: 'a', extra: extraField(0x000d, Buffer.concat([zeros(12), Buffer.from('/etc/passwd')])) }),
      /^a: This is a link/,
    ],
    ['a device', withSkill({ name: 'a', mode: 0o020644 }), /^a: This is a device/],
    ['a pipe', withSkill({ name: 'a', mode: 0o010644 }), /^a: This is a device/],
    ['a folder with bytes', withSkill({ name: 'a/', body: 'x' }), /folder/],
    ['a password', withSkill({ name: 'a', body: 'x', flags: 0x801 }), /^a: This is encrypted/],
    ['strong encryption', withSkill({ name: 'a', body: 'x', flags: 0x841 }), /encrypted/],
    [
      'a password that is told in one place',
      withSkill({ name: 'a', body: 'x', flags: 0x801, listed: { flags: 0x800 } }),
      /^a: Its own header/,
    ],
    ['another compression', withSkill({ name: 'a', method: 12 }), /^a: This is not compressed/],
    ['another local name', withSkill({ name: 'a', localName: 'b' }), /^a: Its own header/],
    [
      'two names',
      withSkill({ name: 'a', extra: extraField(0x7075, Buffer.from('\x01\0\0\0\0b')) }),
      /^a: This entry has two names/,
    ],
    ['names equal after case folding', withSkill({ name: 'a.md' }, { name: 'A.md' }), /^A.md: Another entry/],
    ['names equal after NFC', withSkill({ name: 'ä.md' }, { name: 'a\u0308.md' }), /Another entry/],
    ['folders equal after case folding', withSkill({ name: 'a/x' }, { name: 'A/y' }), /^A\/y: Another entry/],
    ['a file as a folder', withSkill({ name: 'a' }, { name: 'a/b' }), /^a\/b: Another entry/],
    ['two SKILL.md at one depth', zipFile({ 'a/SKILL.md': TEXT, 'b/SKILL.md': TEXT }), /Several files/],
    ['two SKILL.md at the root', forgedZip([skill, { ...skill, name: 'skill.md' }]), /^skill.md: Another entry/],
    ['SKILL.md further down', zipFile({ 'a/b/SKILL.md': TEXT }), /^a\/b\/SKILL.md: SKILL.md must stand/],
    ['a file beside the one folder', zipFile({ 'a/SKILL.md': TEXT, 'README.md': '' }), /^a\/SKILL.md: SKILL.md must/],
    ['no SKILL.md', zipFile({ 'a.md': TEXT }), /^SKILL.md must stand/],
    ['no entry', forgedZip([]), /SKILL.md must stand/],
    ['half of it', withSkill({ name: 'a', body: TEXT }).subarray(0, 100), /no whole zip/],
    ['no zip', Buffer.from('PK and no more'), /no whole zip/],
  ])('does not accept %s', async (_, zip, message) => {
    const error = await read(zip).catch((caught: unknown) => caught);
    expect(error).toMatchObject({
      code: expect.stringMatching(/^(invalid_archive|too_large)$/),
      message: expect.stringMatching(message),
    });
  });

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
    const outcomes = await readSkillArchive(
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
  });

  it('rejects an archive that lies, whatever else is in it', async () => {
    await expect(readSkillArchive(withSkill({ name: 'a', body: 'x', size: 3 }), LIMITS)).rejects.toMatchObject({
      code: 'invalid_archive',
    });
    await expect(readSkillArchive(zipFile({ 'a.md': '' }), LIMITS)).rejects.toMatchObject({ code: 'invalid_archive' });
    await expect(readSkillArchive(Buffer.from(TEXT), LIMITS)).rejects.toMatchObject({ code: 'invalid_archive' });
  });
});

/** An entry whose bytes are another entry, which the directory lists as well. */
function overlapping(): Buffer {
  const inner = forgedZip([{ name: 'inner.txt', body: 'inside', method: 0 }]);
  const own = inner.subarray(0, inner.indexOf('PK\x01\x02'));
  const zip = forgedZip([
    skill,
    { name: 'outer.bin', body: own, method: 0 },
    { name: 'inner.txt', body: 'inside', method: 0, at: 9 },
  ]);
  const start = zip.indexOf(own);
  zip.writeUInt32LE(start, zip.lastIndexOf('inner.txt') - 4);
  return zip;
}
