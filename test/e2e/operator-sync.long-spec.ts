import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operate } from '../../apps/operator/src/program';
import { until } from '../fixtures/until';
import { at, type Document, type Guide, startGuide } from './guide';
import { ADMIN_KEY } from './harness';

let guide: Guide;
const folders: string[] = [];
beforeAll(async () => (guide = await startGuide()), 60_000);
afterAll(async () => {
  await guide.platform.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const setUp = async (name: string) => {
  const agent = await guide.newAgent(name);
  const names = async () =>
    (await guide.platform.call<{ items: Document[] }>(at(`/knowledge/${agent}/documents?limit=100`))).body.items
      .map((document) => document.name)
      .toSorted();
  return { agent, names };
};

describe('operator sync', () => {
  /** Called with each note and line of progress. */
  let onNote = (_text: string): void => undefined;
  const operator = async (...words: readonly string[]) => {
    const out: string[] = [];
    const err: string[] = [];
    const code = await operate(['--url', guide.platform.url, '--api-key', ADMIN_KEY, ...words], {
      stdout: { write: (text: string) => out.push(text) },
      stderr: {
        write: (text: string) => {
          err.push(text);
          onNote(text);
        },
      },
    });
    return { code, out: out.join(''), err: err.join('') };
  };
  const folderOf = (files: Readonly<Record<string, string>>): string => {
    const folder = mkdtempSync(join(tmpdir(), 'sync-'));
    folders.push(folder);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(folder, path, '..'), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return folder;
  };
  const synced = async (folder: string, agent: string, ...more: readonly string[]) => {
    const { code, out, err } = await operator(
      '--json',
      'sync',
      folder,
      '--agent',
      agent,
      '--source',
      'handbook',
      ...more,
    );
    return { code, err, result: out === '' ? {} : (JSON.parse(out) as Record<string, unknown>) };
  };

  it('sends what changed, and nothing else', async () => {
    const { agent, names } = await setUp('Operating');
    const folder = folderOf({
      'a.md': 'The aardvark digs.',
      'more/b.md': 'The badger sleeps.',
      '.git/config': 'hidden',
      '.env': 'hidden',
    });
    symlinkSync(join(folder, 'a.md'), join(folder, 'link.md'));
    expect((await synced(folder, agent, '--dry-run')).result).toMatchObject({ uploaded: ['a.md', 'more/b.md'] });
    expect(await names()).toEqual([]);
    const first = await synced(folder, agent);
    expect(first).toMatchObject({
      code: 0,
      result: { uploaded: ['a.md', 'more/b.md'], replaced: [], deleted: [], unchanged: 0, skipped: ['link.md'] },
    });
    expect(await names()).toEqual(['a.md', 'more/b.md']);
    const nothing = { uploaded: [], replaced: [], deleted: [], withheld: [], failed: [] };
    expect(await synced(folder, agent)).toMatchObject({ code: 0, result: { ...nothing, unchanged: 2 } });
    writeFileSync(join(folder, 'a.md'), 'The aardvark rests.');
    renameSync(join(folder, 'more/b.md'), join(folder, 'more/c.md'));
    expect((await synced(folder, agent)).result).toMatchObject({
      uploaded: ['more/c.md'],
      replaced: ['a.md'],
      deleted: ['more/b.md'],
    });
    const said = await operator('sync', folder, '--agent', agent, '--source', 'handbook');
    expect([said.code, said.out]).toEqual([
      0,
      'skipped   link.md\n0 new, 0 changed, 2 unchanged, 0 deleted, 0 failed.\n',
    ]);
  });

  it('rejects a link out of the folder, an empty folder and wrong words, and changes nothing', async () => {
    const { agent, names } = await setUp('Operating badly');
    await synced(folderOf({ 'a.md': 'Stays.' }), agent);
    const outside = folderOf({ 'secret.txt': 'secret' });
    const folder = folderOf({ 'b.md': 'New.' });
    symlinkSync(outside, join(folder, 'out'));
    expect(await synced(folder, agent)).toMatchObject({
      code: 1,
      err: expect.stringContaining('out is a link') as string,
    });
    expect(await synced(folderOf({}), agent)).toMatchObject({ code: 2 });
    expect(await synced(join(folder, 'absent'), agent)).toMatchObject({ code: 2 });
    expect((await operator('sync', folder, '--agent', agent, '--source', 'Not A Source')).code).toBe(2);
    expect((await operator('sync', folder)).code).toBe(2);
    expect(await names()).toEqual(['a.md']);
  });

  it('sends nothing from outside the folder, whatever becomes a link or goes away once it was listed', async () => {
    const { agent, names } = await setUp('Operating among others');
    const outside = folderOf({ passwd: 'root:x:0:0', 'b.md': 'secret' });
    const folder = folderOf({ 'a.md': 'A.', 'c.md': 'C.', 'm/b.md': 'B.', 'z.md': 'Z.' });
    onNote = (text) => {
      if (!text.includes('Sending')) return;
      onNote = () => undefined;
      rmSync(join(folder, 'a.md'));
      symlinkSync(join(outside, 'passwd'), join(folder, 'a.md'));
      rmSync(join(folder, 'c.md'));
      rmSync(join(folder, 'm'), { recursive: true });
      symlinkSync(outside, join(folder, 'm'));
    };
    const { code, result } = await synced(folder, agent);
    expect(code).toBe(1);
    expect(result).toMatchObject({
      uploaded: ['z.md'],
      failed: [
        {
          path: 'a.md',
          code: 'unreadable',
          message: expect.stringContaining('a.md is a link that leads out') as string,
        },
        {
          path: 'c.md',
          code: 'unreadable',
          message: expect.stringContaining('c.md cannot be read (ENOENT)') as string,
        },
        {
          path: 'm/b.md',
          code: 'unreadable',
          message: expect.stringContaining('b.md is a link that leads out') as string,
        },
      ],
    });
    expect(await names()).toEqual(['z.md']);
  });

  it('ends with 3 where deletions wait to be confirmed, and with 1 where a file is not taken', async () => {
    const { agent, names } = await setUp('Operating carefully');
    await synced(
      folderOf(Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`${index}.md`, `File ${index}.`]))),
      agent,
    );
    const folder = folderOf({ 'new.md': 'New.' });
    const withheld = await synced(folder, agent);
    expect([withheld.code, (withheld.result['withheld'] as string[]).length]).toEqual([3, 11]);
    expect((await synced(folder, agent, '--confirm-deletions')).code).toBe(0);
    expect(await names()).toEqual(['new.md']);
  });

  it('deletes what was shown under a code, and nothing where others are gone by then', async () => {
    const { agent, names } = await setUp('Operating with codes');
    const files = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`${index}.md`, `File ${index}.`]));
    await synced(folderOf(files), agent);
    const folder = folderOf({ 'new.md': 'New.' });
    const { confirmation } = (await synced(folder, agent)).result;
    // Sent by another, who has this file beside the others.
    await synced(folderOf({ ...files, 'new.md': 'New.', 'since.md': 'Since.' }), agent);
    const other = await synced(folder, agent, '--confirm', confirmation as string);
    expect([other.code, (other.result['withheld'] as string[]).includes('since.md')]).toEqual([3, true]);
    expect((await names()).length).toBe(13);
    const seen = await operator('sync', folder, '--agent', agent, '--source', 'handbook');
    const [, code = ''] = /--confirm ([0-9a-f]{12})\./.exec(seen.out) ?? [];
    expect(code).toBe(other.result['confirmation']);
    const done = await synced(folder, agent, '--confirm', code);
    expect([done.code, done.result['confirmation'], (done.result['deleted'] as string[]).length]).toEqual([
      0,
      null,
      12,
    ]);
    expect(await names()).toEqual(['new.md']);
  });

  it('deletes nothing under a code that stands for others, be they few or the whole source', async () => {
    const { agent, names } = await setUp('Operating with another code');
    await synced(folderOf({ 'a.md': 'A.', 'b.md': 'B.' }), agent);
    for (const [folder, gone] of [
      [folderOf({ 'b.md': 'B.' }), ['a.md']],
      [folderOf({}), ['a.md', 'b.md']],
    ] as const) {
      const other = await synced(folder, agent, '--confirm', '0123456789ab');
      expect([other.code, other.result['deleted'], (other.result['withheld'] as string[]).toSorted()]).toEqual([
        3,
        [],
        gone,
      ]);
      expect(await names()).toEqual(['a.md', 'b.md']);
    }
    const { confirmation } = (await synced(folderOf({}), agent, '--confirm', '0123456789ab')).result;
    expect((await synced(folderOf({}), agent, '--confirm', confirmation as string)).code).toBe(0);
    expect(await names()).toEqual([]);
  });

  it('finds a renamed file under one of its names all the while', async () => {
    const { agent, names } = await setUp('Renaming');
    const text = 'The capybara swims across the river.';
    const folder = folderOf({ 'before.md': text, 'other.md': 'Another.' });
    await synced(folder, agent);
    const found = async () =>
      (
        await guide.platform.call<{ items: { documentName: string; text: string }[] }>(
          at(`/knowledge/${agent}/search`),
          { method: 'POST', body: { query: 'capybara', mode: 'text' } },
        )
      ).body.items.some(({ text: passage }) => passage.includes('capybara'));
    await until(found, 'the file');
    renameSync(join(folder, 'before.md'), join(folder, 'after.md'));
    let isOver = false;
    let missed = 0;
    const searching = (async () => {
      while (!isOver) if (!(await found())) missed += 1;
    })();
    const { code, result } = await synced(folder, agent);
    await until(async () => (await names()).join() === 'after.md,other.md', 'the new name alone');
    isOver = true;
    await searching;
    expect([code, missed]).toEqual([0, 0]);
    expect(result).toMatchObject({ uploaded: ['after.md'], deleted: ['before.md'], unchanged: 1 });
  });

  it('sends what it can, and names each file whose name is not taken or is there twice', async () => {
    const { agent, names } = await setUp('Odd names');
    const folder = folderOf({
      'a.md': 'One.',
      'A.md': 'Another, told apart by its case.',
      '\u00fc.md': 'Composed.',
      'u\u0308.md': 'Decomposed.',
      ' b.md': 'Begins with a space.',
      'c\\d.md': 'Has a backslash.',
      'e\u202e.md': 'Turns the writing around.',
    });
    const { code, result } = await synced(folder, agent);
    expect(code).toBe(1);
    expect((result['failed'] as { path: string }[]).map(({ path }) => path).toSorted()).toEqual(
      [' b.md', 'c\\d.md', 'e\u202e.md', '\u00fc.md'].toSorted(),
    );
    expect(result['uploaded']).toEqual(['A.md', 'a.md', 'u\u0308.md']);
    expect(await names()).toHaveLength(3);
    expect(await synced(folder, agent)).toMatchObject({ code: 1, result: { uploaded: [], unchanged: 3 } });
  });
});
