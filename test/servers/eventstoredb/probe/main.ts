import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { appending, calling, fatal } from './appending.cases';
import { contents } from './contents.cases';
import { type Cases, Probe } from './probe';
import { readingAfterDispose, readingAll, readingStreams } from './reading.cases';
import { deleting, truncating } from './removing.cases';
import { repeating } from './repeating.cases';
import { failureOf } from './scrubbing';
import { subscribingToAll, subscribingToStreams } from './subscribing.cases';

const LASTING = [
  appending,
  repeating,
  contents,
  readingStreams,
  truncating,
  deleting,
  readingAll,
  subscribingToStreams,
  subscribingToAll,
  calling,
  readingAfterDispose,
];

/** So long may any case take. */
const MOST_MS = 30_000;

/**
 * What a server answers to the client, case by case, as a transcript without what varies. Writes streams `probe-…`.
 * `node --require ./test/register.cjs test/servers/eventstoredb/probe/main.ts --connection esdb://127.0.0.1:2113?tls=false --out transcript.json`
 * With `--haste 10` the probe waits a tenth of its time where nothing is to come; a real server needs it all. With
 * `--part fatal` it does only what ends the client, with `--part lasting` only the rest.
 */
const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      connection: { type: 'string', default: 'esdb://127.0.0.1:2113?tls=false' },
      out: { type: 'string' },
      haste: { type: 'string', default: '1' },
      part: { type: 'string', default: 'all' },
    },
  });
  const probe = new Probe(values.connection, Number(values.haste));
  const thrown: string[] = [];
  process.on('uncaughtException', (error) => {
    const text = `${error.constructor.name}: ${error.message.split('\n')[0]}`;
    if (!thrown.includes(text)) thrown.push(text);
  });

  const groups = [
    ...(values.part === 'fatal' ? [] : LASTING),
    ...(values.part === 'lasting' ? [] : [(each: Probe) => fatal(each, thrown)]),
  ];
  const transcript: Record<string, unknown> = {};
  for (const group of groups)
    for (const [name, run] of Object.entries<Cases[string]>(group(probe))) {
      thrown.length = 0;
      const outcome = await probe.outcome(deadlined(run(), MOST_MS));
      const isExpected = JSON.stringify(outcome).includes('thrownOutsideAnyPromise');
      transcript[name] =
        (thrown.length > 0 && !isExpected ? { outcome, thrownOutsideAnyPromise: [...thrown] } : outcome) ?? null;
    }
  const text = `${JSON.stringify(transcript, null, 1)}\n`;
  if (values.out === undefined) process.stdout.write(text);
  else writeFileSync(values.out, text);
  process.exit(0);
};

const deadlined = (run: Promise<unknown>, ms: number): Promise<unknown> =>
  Promise.race([
    run,
    new Promise((_resolve, reject) => setTimeout(() => reject(new Error(`no answer in ${ms} ms`)), ms).unref()),
  ]);

main().catch((error: unknown) => {
  process.stderr.write(`${JSON.stringify(failureOf(error))}\n`);
  process.exit(1);
});
