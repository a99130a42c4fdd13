import { randomBytes, randomUUID } from 'node:crypto';
import { binaryEvent, EventStoreDBClient, NO_STREAM, START } from '@eventstore/db-client';
import { type EventLog, openEventStoreLog } from '@app/event-log';
import type { NewEvent } from '@app/kernel';
import { type Measured, measured } from './measured';
import { median } from './rate';
import { startDouble } from './start-double';

/**
 * The log on EventStoreDB beside the bare client doing the same work in the same run: appends at 64 callers, a stream read
 * whole, the whole log read in pages. On the server that `EVENTSTORE_URL` names, else on the double in a process of its own.
 */

const CALLERS = 64;
const APPENDS = Number(process.env['APPENDS'] ?? 10_000);
const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const STREAM = 10_000;
const LOG = 40_000;
const PAGE = 1_000;

const data = JSON.stringify({ text: randomBytes(180).toString('hex'), numbers: [1, 2, 3], note: 'x'.repeat(120) });
const metadata = JSON.stringify({
  $correlationId: randomUUID(),
  commandId: randomUUID(),
  actor: 'user:bench',
  schema: '1',
});
const dataBytes = Buffer.from(data);
const metadataBytes = Buffer.from(metadata);
const newEvent = (): NewEvent => ({ id: randomUUID(), type: 'BenchEvent', data, metadata });

type Append = (stream: string, revision: number) => Promise<unknown>;

/** Each caller appends to streams of its own, one event after the other. */
const appends = (append: Append): Promise<Measured> => {
  const run = randomUUID();
  return measured(APPENDS, async () => {
    let next = 0;
    await Promise.all(
      Array.from({ length: CALLERS }, async (_, caller) => {
        for (let turn = 0; next < APPENDS; turn += 1) {
          next += 1;
          await append(`bench-${run}-${caller}-${turn % 10}`, Math.floor(turn / 10));
        }
      }),
    );
  });
};

const through = (log: EventLog) => ({
  append: () =>
    appends((stream, revision) => log.append(stream, [newEvent()], revision === 0 ? 'noStream' : revision - 1)),
  stream: (name: string) =>
    measured(STREAM, async () => {
      must((await log.readStream(name)).length, STREAM);
    }),
  all: () =>
    measured(LOG, async () => {
      let count = 0;
      for (
        let page = await log.readAll({ limit: PAGE });
        ;
        page = await log.readAll({ after: page.next, limit: PAGE })
      ) {
        count += page.events.length;
        if (count >= LOG || page.end) break;
      }
      must(count, LOG);
    }),
});

const bare = (client: EventStoreDBClient) => ({
  append: () =>
    appends((stream, revision) =>
      client.appendToStream(
        stream,
        binaryEvent({ id: randomUUID(), type: 'BenchEvent', data: dataBytes, metadata: metadataBytes }),
        { expectedRevision: revision === 0 ? NO_STREAM : BigInt(revision - 1) },
      ),
    ),
  stream: (name: string) =>
    measured(STREAM, async () => {
      const events: unknown[] = [];
      for await (const { event } of client.readStream(name)) events.push(event);
      must(events.length, STREAM);
    }),
  all: () =>
    measured(LOG, async () => {
      const events: unknown[] = [];
      for await (const { event } of client.readAll({ fromPosition: START, maxCount: LOG })) events.push(event);
      must(events.length, LOG);
    }),
});

const must = (count: number, expected: number): void => {
  if (count < expected) throw new Error(`${count} events were read, not ${expected}`);
};

const fill = async (log: EventLog): Promise<string> => {
  const stream = `bench-${randomUUID()}`;
  for (let revision = -1; revision < STREAM - 1; revision += 500)
    await log.append(stream, Array.from({ length: 500 }, newEvent), revision < 0 ? 'noStream' : revision);
  for (let written = STREAM; written < LOG; written += 500)
    await log.append(`bench-${randomUUID()}`, Array.from({ length: 500 }, newEvent), 'noStream');
  return stream;
};

type Kind = 'append' | 'stream' | 'all';
const NAMES: Readonly<Record<Kind, string>> = {
  append: `append, ${CALLERS} callers`,
  stream: 'read a stream',
  all: 'read $all',
};

const main = async (): Promise<void> => {
  const given = process.env['EVENTSTORE_URL'];
  const double = given === undefined ? await startDouble() : undefined;
  const url = given ?? (double?.url as string);
  const log = await openEventStoreLog({ url });
  const client = EventStoreDBClient.connectionString(url);
  const stream = await fill(log);
  const ours = through(log);
  const theirs = bare(client);
  await Promise.all([ours.all(), theirs.all()]);
  console.log(
    `on ${double === undefined ? 'the server of EVENTSTORE_URL' : 'the double'}, medians of ${ROUNDS} rounds`,
  );
  for (const kind of ['append', 'stream', 'all'] as const) {
    const rounds: { readonly ours: Measured; readonly theirs: Measured }[] = [];
    // Whoever is first changes, so that what one leaves to the other falls on both.
    for (let round = 0; round < ROUNDS; round += 1) {
      const first = round % 2 === 0 ? await ours[kind](stream) : undefined;
      const other = await theirs[kind](stream);
      rounds.push({ theirs: other, ours: first ?? (await ours[kind](stream)) });
    }
    const of = (value: (of: (typeof rounds)[number]) => number): number => median(rounds.map(value));
    const rate = (value: number): string => `${Math.round(value).toLocaleString('en')}/s`;
    console.log(
      `  ${NAMES[kind].padEnd(20)} log ${rate(of((each) => each.ours.perSecond)).padStart(9)} (${of((each) => each.ours.cpu).toFixed(0)} us)   bare client ${rate(of((each) => each.theirs.perSecond)).padStart(9)} (${of((each) => each.theirs.cpu).toFixed(0)} us)   ratio ${of((each) => each.ours.perSecond / each.theirs.perSecond).toFixed(2)} (target 0.80)`,
    );
  }
  await log.close();
  await client.dispose();
  double?.child.kill();
};

void main();
