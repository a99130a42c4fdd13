import { spawnSync } from 'node:child_process';
import fs, { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadOrMakeKey } from './key-files';

describe('loadOrMakeKey', () => {
  let folder: string;
  let warnings: string[];
  const load = (given?: string, inUse = false) =>
    loadOrMakeKey({
      folder: join(folder, 'keys'),
      name: 'VAULT_KEY',
      given,
      inUse,
      warn: (sentence) => warnings.push(sentence),
    });

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'keys-'));
    warnings = [];
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  afterEach(() => jest.restoreAllMocks());

  it('makes a key at first, for its owner only, with a warning that does not tell it, and finds it again', () => {
    const key = load();
    expect(key.length).toBeGreaterThanOrEqual(32);
    expect(load()).toBe(key);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).not.toContain(key);
    expect(statSync(join(folder, 'keys', 'VAULT_KEY')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, 'keys', 'VAULT_KEY'), 'utf8').trim()).toBe(key);
  });

  it('prefers the key of the environment and writes nothing then', () => {
    expect(load('x'.repeat(32))).toBe('x'.repeat(32));
    expect(existsSync(join(folder, 'keys'))).toBe(false);
  });

  it('keeps white space around the key of the environment, which is part of it, and says so', () => {
    expect(load(`${'x'.repeat(32)}\n`)).toBe(`${'x'.repeat(32)}\n`);
    expect(warnings).toEqual([expect.stringMatching(/^VAULT_KEY begins or ends with a space or a line break/)]);
    expect(warnings[0]).not.toContain('xxx');
  });

  it('makes none where data stand already, and says which is missing', () => {
    expect(() => load(undefined, true)).toThrow(/^VAULT_KEY is missing/);
    expect(existsSync(join(folder, 'keys'))).toBe(false);
  });

  it('rejects a key file that holds no key', () => {
    load();
    writeFileSync(join(folder, 'keys', 'VAULT_KEY'), '');
    expect(() => load()).toThrow(/holds no key/);
  });

  it.each(['openSync', 'writeSync', 'fsyncSync', 'linkSync', 'rmSync', 'closeSync'])(
    'finds a key or makes another where a process was killed in %s',
    (step) => {
      const { signal } = spawnSync(process.execPath, ['--require', './test/register.cjs', '-e', KILLED, folder, step]);
      expect(signal).toBe('SIGKILL');
      const key = load();
      expect(key.length).toBeGreaterThanOrEqual(32);
      expect(load()).toBe(key);
    },
  );

  it('leaves nothing where the disk is full', () => {
    const full = Object.assign(new Error('full'), { code: 'ENOSPC' });
    jest.spyOn(fs, 'writeFileSync').mockImplementationOnce((file) => {
      fs.closeSync(fs.openSync(file as string, 'wx'));
      throw full;
    });
    expect(() => load()).toThrow(full);
    expect(readdirSync(join(folder, 'keys'))).toEqual([]);
    expect(load().length).toBeGreaterThanOrEqual(32);
  });

  it('takes the key that another process made meanwhile, and leaves it as it is', () => {
    const link = fs.linkSync;
    jest.spyOn(fs, 'linkSync').mockImplementationOnce((...given) => {
      writeFileSync(join(folder, 'keys', 'VAULT_KEY'), 'y'.repeat(43));
      link(...given);
    });
    expect([load(), load()]).toEqual(['y'.repeat(43), 'y'.repeat(43)]);
    expect([warnings, readdirSync(join(folder, 'keys'))]).toEqual([[], ['VAULT_KEY']]);
  });
});

/** Makes a key in a folder, and dies right in one of the steps. */
const KILLED = `
  const fs = require('node:fs');
  const [, folder, step] = process.argv;
  const { loadOrMakeKey } = require('@app/vault');
  require('node:fs')[step] = () => process.kill(process.pid, 'SIGKILL');
  loadOrMakeKey({ folder: folder + '/keys', name: 'VAULT_KEY', inUse: false, warn: () => undefined });
`;
