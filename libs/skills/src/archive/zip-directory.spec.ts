import { ZipFile } from 'yauzl';
import { extraField, type ForgedEntry, forgedZip } from '../../../../test/fixtures/files/forged-zip';
import { DistinctPaths } from './distinct-paths';
import { FrontmatterBudget } from './frontmatter';
import { everySkill } from './layout';
import { filesOfZip } from './zip-directory';

const LIMITS = { files: 500, bytes: 100 * 1024 ** 2 };
const named = (count: number, name: (index: number) => string): readonly ForgedEntry[] =>
  Array.from({ length: count }, (_, index) => ({ name: name(index) }));
const DEEP = 'a/'.repeat(400);

describe('an archive that is rejected', () => {
  afterEach(() => void jest.restoreAllMocks());

  /** Rejects an archive, and says how many entries of its directory, and how many of their own headers, were read. */
  const rejectionOf = async (zip: Buffer) => {
    const entries = jest.spyOn(ZipFile.prototype, 'readEntry');
    const headers = jest.spyOn(ZipFile.prototype, 'readLocalFileHeader');
    const rejected: unknown = await filesOfZip(zip, LIMITS).catch((error: unknown) => error);
    return { rejected, entries: entries.mock.calls.length, headers: headers.mock.calls.length };
  };

  it('for a directory of megabytes is so before an entry is read', async () => {
    const extra = extraField(0x9999, Buffer.alloc(65_000));
    const zip = forgedZip(named(70, String).map((entry) => ({ ...entry, extra })));
    expect(await rejectionOf(zip)).toEqual({
      rejected: expect.objectContaining({ code: 'too_large', message: expect.stringContaining('4194304 bytes') }),
      entries: 0,
      headers: 0,
    });
  });

  it('for an entry is read no further', async () => {
    const zip = forgedZip([{ name: '../x' }, ...named(1_000, String)]);
    expect(await rejectionOf(zip)).toEqual({
      rejected: expect.objectContaining({ message: expect.stringContaining('..') }),
      entries: 1,
      headers: 0,
    });
  });

  it('for many extra fields of an entry is read no further', async () => {
    const zip = forgedZip([{ name: 'a', extra: Buffer.alloc(4 * 17) }, ...named(1_000, String)]);
    expect(await rejectionOf(zip)).toEqual({
      rejected: expect.objectContaining({ message: expect.stringContaining('16 extra fields') }),
      entries: 1,
      headers: 0,
    });
  });

  it('for more folders than 500 files can be in is read no further', async () => {
    const zip = forgedZip(named(1_000, (index) => `${index}/${DEEP}x`));
    const { rejected, entries, headers } = await rejectionOf(zip);
    expect(rejected).toMatchObject({ code: 'too_large', message: expect.stringContaining('65536 folders') });
    expect({ entries, headers }).toEqual({ entries: 164, headers: 0 });
  });

  it('for an entry that overlaps another has no header read behind it', async () => {
    const inner = forgedZip([{ name: 'inner', body: 'inside', method: 0 }]);
    const own = inner.subarray(0, inner.indexOf('PK\x01\x02'));
    const zip = forgedZip([
      { name: 'outer', body: own, method: 0 },
      { name: 'inner', body: 'inside', method: 0, at: 0 },
      ...named(1_000, String),
    ]);
    const directory = zip.indexOf('PK\x01\x02');
    zip.writeUInt32LE(zip.indexOf(own), zip.indexOf('inner', directory) - 4);
    const { rejected, headers } = await rejectionOf(zip);
    expect(rejected).toMatchObject({ message: expect.stringContaining('inner: This entry overlaps') });
    expect(headers).toBe(2);
  });
});

it('an archive of more Skills than a place may have is rejected before one is read', () => {
  const read = jest.fn(() => Buffer.alloc(0));
  const files = Array.from({ length: 1_001 }, (_, index) => ({ path: `${index}/SKILL.md`, sizeBytes: 0, read }));
  expect(() => everySkill(files, new FrontmatterBudget())).toThrow('more than 1000 SKILL.md');
  expect(read).not.toHaveBeenCalled();
  expect(everySkill(files.slice(1), new FrontmatterBudget()).skills).toHaveLength(1_000);
});

it('an archive in memory is read without a turn of the loop for each entry', async () => {
  const turns = jest.spyOn(globalThis, 'setImmediate');
  expect(await filesOfZip(forgedZip(named(1_000, String)), LIMITS)).toHaveLength(1_000);
  expect(turns.mock.calls.length).toBeLessThan(10);
  turns.mockRestore();
});

it('a file of an archive is inflated in one piece', async () => {
  const body = Buffer.from('one piece of text, '.repeat(20_000));
  const [file] = await filesOfZip(forgedZip([{ name: 'a', body }]), LIMITS);
  const joined = jest.spyOn(Buffer, 'concat');
  expect(file?.read().equals(body)).toBe(true);
  expect(joined).not.toHaveBeenCalled();
  joined.mockRestore();
});

it('an archive of 500 files in as many folders as their paths can name is read', async () => {
  const zip = forgedZip(named(500, (index) => `${String(index).padStart(4, '0')}${'/é'.repeat(124)}`));
  expect(await filesOfZip(zip, LIMITS)).toHaveLength(500);
});

describe('the names of an archive', () => {
  afterEach(() => void jest.restoreAllMocks());

  it('are each compared once, however deep they stand', () => {
    const normalized = jest.spyOn(String.prototype, 'normalize');
    const names = new DistinctPaths();
    const paths = Array.from({ length: 100 }, (_, index) => `${DEEP}${index}`);
    expect(paths.every((path) => names.add(path))).toBe(true);
    const characters = normalized.mock.contexts.reduce<number>((sum, text) => sum + String(text).length, 0);
    expect(characters).toBeLessThan(2 * (DEEP.length + 100 * 3));
    expect(names.folderCount).toBe(400);
  });

  it.each([[['a/b', 'a/c', 'a/', 'a/']], [['a', 'b/a', 'b/b/a', 'B.md']], [['ΑΣ/x', 'ΑΣΣ/x', '\u0338/x']]])(
    'may be %j',
    (paths) => {
      const names = new DistinctPaths();
      expect(paths.map((path) => names.add(path))).toEqual(paths.map(() => true));
    },
  );

  it.each([
    [['a/x', 'A/y']],
    [['a/B/x', 'a/b/y']],
    [['a/b', 'a/b/c']],
    [['a/b/c', 'a/b']],
    [['a/ä', 'a/a\u0308']],
    [['ΑΣ/x', 'ας/y']],
    [['a/b/x', 'a/b/x']],
  ])('may not be %j', (paths) => {
    const names = new DistinctPaths();
    expect(paths.map((path) => names.add(path))).toEqual(paths.map((_, index) => index === 0));
  });

  it('are each looked at once for the Skill that they belong to', () => {
    const file = (path: string) => ({ path, sizeBytes: 0, read: () => Buffer.alloc(0) });
    const files = ['z/SKILL.md', ...Array.from({ length: 1_000 }, (_, index) => `${DEEP}${index}`)].map(file);
    const looked = jest.spyOn(String.prototype, 'lastIndexOf');
    const { skills, ignored } = everySkill(files, new FrontmatterBudget());
    expect(looked.mock.calls.length).toBeLessThan(10 * files.length);
    expect([skills.length, ignored.length]).toEqual([1, 1_000]);
  });
});
