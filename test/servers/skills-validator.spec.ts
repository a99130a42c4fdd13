import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { skillText } from '../../libs/skills/src/archive/export';
import { ADMIN_KEY, startTestPlatform, type TestPlatform } from '../e2e/harness';
import { complaints, REJECTED, skills } from '../fixtures/skill-format';
import { zipFiles } from '../fixtures/zip-files';

/** The reference validator of the Agent Skills format, installed apart. It needs Python 3.11. */
const VALIDATOR = 'skills-ref==0.1.1';
const isHere =
  spawnSync('python3', ['-c', 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))']).status === 0;
const validate = `
import json, sys
from skills_ref.validator import validate
print(json.dumps([validate(folder) for folder in json.load(sys.stdin)]))
`;

(isHere ? describe : describe.skip)('skills-ref', () => {
  const work = mkdtempSync(join(tmpdir(), 'skills-ref-'));
  const python = join(work, 'python/bin/python');
  let platform: TestPlatform;
  let folders = 0;

  beforeAll(async () => {
    execFileSync('python3', ['-m', 'venv', join(work, 'python')]);
    execFileSync(python, ['-m', 'pip', 'install', '--quiet', VALIDATOR], { stdio: 'pipe', timeout: 240_000 });
    platform = await startTestPlatform();
  }, 310_000);
  afterAll(async () => {
    await platform?.stop();
    rmSync(work, { recursive: true });
  });

  /** What the validator says of each `SKILL.md` in a folder of the name given. */
  const saidOf = (written: readonly { readonly folder: string; readonly text: string }[]): readonly string[][] => {
    const paths = written.map(({ folder, text }) => {
      const path = join(work, `${(folders += 1)}`, folder);
      mkdirSync(path, { recursive: true });
      writeFileSync(join(path, 'SKILL.md'), text);
      return path;
    });
    const said = execFileSync(python, ['-c', validate], { input: JSON.stringify(paths), env: { PYTHONUTF8: '1' } });
    return JSON.parse(said.toString()) as string[][];
  };

  it('accepts exported Skills, whatever their names, texts and keys', () => {
    const written = fc
      .sample(skills, { numRuns: 1_000, seed: Number(process.env['SEED']) })
      .map((skill) => ({ folder: skill.slug, text: skillText({ ...skill, files: [] }) }));
    const said = saidOf(written);
    expect(said).toHaveLength(1_000);
    expect(written.filter((_, index) => said[index]?.length !== 0)).toEqual([]);
  }, 300_000);

  it('rejects what the tests take it to reject', () => {
    const said = saidOf(REJECTED.map(([, text]) => ({ folder: 'a', text })));
    expect(REJECTED.filter((_, index) => said[index]?.length === 0)).toEqual([]);
    expect(REJECTED.filter(([, text]) => complaints(text, 'a').length === 0)).toEqual([]);
  });

  it('accepts what the API exports of a Skill that came in with a free name, keys of others and files', async () => {
    const space = await platform.call<{ id: string }>('/api/v1/core/spaces', {
      method: 'POST',
      body: { name: 'Desk' },
    });
    const skill = await platform.call<{ id: string; slug: string }>('/api/v1/core/skills', {
      method: 'POST',
      body: {
        scope: 'space',
        spaceId: space.body.id,
        name: 'Größe & Küche: prüfen',
        description: 'Checks --- "sizes"\nand: kitchens.',
        instructions: '---\nMeasure twice.',
        frontmatter: { license: 'MIT', version: 2, metadata: { author: 'A', tags: ['a'] }, 'allowed-tools': 'Read' },
      },
    });
    expect(skill).toMatchObject({ status: 201 });
    const path = `/api/v1/core/skills/${skill.body.id}`;
    expect((await platform.call(`${path}/publish`, { method: 'POST' })).status).toBeLessThan(300);
    const exported = await platform.platform.app.inject({ url: `${path}/export`, headers: { 'x-api-key': ADMIN_KEY } });
    const files = zipFiles(exported.rawPayload);
    const text = files[`${skill.body.slug}/SKILL.md`]?.toString() as string;
    expect(saidOf([{ folder: skill.body.slug, text }])).toEqual([[]]);
  });
});
