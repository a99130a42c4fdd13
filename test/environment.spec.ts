import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { types } from 'node:util';

describe('a test', () => {
  it('runs in the realm of its process, whose errors are errors here', () => {
    const failing = (): unknown => readFileSync(join(__dirname, 'no such file'));
    expect(failing).toThrow(Error);
    expect(failing).toThrow(expect.objectContaining({ constructor: Error }));
  });

  it('has the packages that Node loads, whatever format they have', () => {
    expect(types.isModuleNamespaceObject(createRequire(__filename)('@nestjs/common'))).toBe(true);
  });
});
