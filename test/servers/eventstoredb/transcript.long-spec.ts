import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEventStoreDouble } from './double';
import type { ServerVersion } from './serving';

const root = join(__dirname, '..', '..', '..');

type Transcript = Readonly<Record<string, unknown>>;

/** Taken from a real server of this version, built from its sources, with the cases of `probe/`. The double differs in none of them. */
const transcriptOf = (version: ServerVersion): Transcript =>
  JSON.parse(
    readFileSync(join(root, 'test', 'fixtures', 'eventstoredb', `transcript-${version}.json`), 'utf8'),
  ) as Transcript;

/** The probe in a process of its own, since one of its cases ends its client with an error outside any promise. */
const probe = async (
  version: ServerVersion,
  part: 'lasting' | 'fatal',
  writeTimeoutMs: number,
): Promise<Transcript> => {
  const double = await startEventStoreDouble({ version, writeTimeoutMs });
  const args = [
    '--require',
    join(root, 'test', 'register.cjs'),
    join(__dirname, 'probe', 'main.ts'),
    '--connection',
    double.url,
    '--haste',
    '10',
    '--part',
    part,
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 16 * 1024 * 1024 });
  await double.stop();
  return JSON.parse(stdout) as Transcript;
};

describe('the double of EventStoreDB', () => {
  // An empty event type and an id that is no UUID are answered again at the write timeout: the first must not come while the probe lasts.
  it.concurrent.each<ServerVersion>(['24.10.4', '23.10.6'])(
    'answers every case of the probe as version %s does',
    async (version) => {
      const [lasting, fatal] = await Promise.all([probe(version, 'lasting', 120_000), probe(version, 'fatal', 100)]);
      expect({ ...lasting, ...fatal }).toEqual(transcriptOf(version));
    },
  );
});
