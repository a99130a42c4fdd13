import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { types } from 'node:util';
import * as kernel from '@app/kernel';

describe('a test', () => {
  it('runs in the realm of its process, whose errors are errors here', () => {
    const failing = (): unknown => readFileSync(join(__dirname, 'no such file'));
    expect(failing).toThrow(Error);
    expect(failing).toThrow(expect.objectContaining({ constructor: Error }));
  });

  it('has the packages that Node loads, whatever format they have', () => {
    expect(types.isModuleNamespaceObject(createRequire(__filename)('@nestjs/common'))).toBe(true);
  });

  it('has the sources of the product that its process has, and their lines in stacks', () => {
    expect(createRequire(__filename)('@app/kernel')).toBe(kernel);
    const failing = (): unknown => kernel.readConfig({ PORT: 'none' });
    let stack = '';
    try {
      failing();
    } catch (error) {
      ({ stack = '' } = error as Error);
    }
    const file = join(__dirname, '..', 'libs', 'kernel', 'src', 'config.ts');
    const line = Number(new RegExp(`${file}:(\\d+)`).exec(stack)?.[1]);
    expect(readFileSync(file, 'utf8').split('\n')[line - 1]).toContain('throw new InvalidConfig(');
  });

  it('has the state of its own file alone, as what another holds would never be free', () => {
    const states = Object.getOwnPropertySymbols(globalThis).filter(
      ({ description }) => description === 'JEST_STATE_SYMBOL',
    );
    expect(states).toHaveLength(1);
  });
});
