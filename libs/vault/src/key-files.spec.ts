import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

  it('makes none where data stand already, and says which is missing', () => {
    expect(() => load(undefined, true)).toThrow(/^VAULT_KEY is missing/);
    expect(existsSync(join(folder, 'keys'))).toBe(false);
  });

  it('rejects a key file that holds no key', () => {
    load();
    writeFileSync(join(folder, 'keys', 'VAULT_KEY'), '');
    expect(() => load()).toThrow(/holds no key/);
  });
});
