import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Child, startChild } from '../../e2e/child';

/** One product for all tests of a file, on a folder of its own, which dies where a request says so (`dying-child.ts`). Whoever killed it starts it again. */
export const dyingProduct = (name: string, environment: Readonly<Record<string, string>> = {}) => {
  const dataDir = mkdtempSync(join(tmpdir(), `${name}-`));
  const ENVIRONMENT = JSON.stringify(environment);
  let child: Child;
  const start = async (): Promise<void> => {
    child = await startChild('test/faults/processes/dying-child.ts', { DATA_DIR: dataDir, ENVIRONMENT });
  };
  beforeAll(start, 60_000);
  afterAll(async () => {
    await child.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  return {
    /** The process that runs at the moment. */
    get child() {
      return child;
    },
    start,
  };
};
