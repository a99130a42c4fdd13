import { hash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { type EventLog, eventMacOf, openSqliteEventLog, stampAppends } from '@app/event-log';
import { EventCatalogue, EventCodec, systemClock, TimeOrderedIds } from '@app/kernel';
import { Sealer, sealEvents, sealKeyOf, unprovenEvents, verifyLog } from '@app/sealing';

/** Sealing and verifying a log, beside reading it and hashing each event twice, which both have to do. Prints rates and ratios. */

const EVENTS = Number(process.env['EVENTS'] ?? 50_000);
const PAGE = 500;
const SECRET = 'the secret of a benchmark, not of an instance';
const key = sealKeyOf(SECRET);
const mac = eventMacOf(SECRET);
const codec = new EventCodec(new EventCatalogue([...sealEvents, ...unprovenEvents]), {
  ensureKey: async () => Buffer.alloc(32),
  keys: async () => new Map(),
});
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

const fill = async (log: EventLog): Promise<void> => {
  const ids = new TimeOrderedIds();
  const event = () => ({
    id: ids.next(),
    type: 'BenchEvent',
    data: JSON.stringify({ text: randomBytes(150).toString('hex') }),
    metadata: '{"actor":"user:bench","schema":"1"}',
  });
  for (let stream = 0; stream < EVENTS / PAGE; stream += 1)
    await log.append(`bench-${stream}`, Array.from({ length: PAGE }, event), 'noStream');
};

const bare = async (log: EventLog): Promise<void> => {
  for (let page = await log.readAll({ limit: PAGE }); ; page = await log.readAll({ after: page.next, limit: PAGE })) {
    for (const { data, metadata } of page.events) hash('sha256', hash('sha256', data + metadata));
    if (page.end) return;
  }
};

const seal = async (log: EventLog): Promise<void> => {
  const sealer = new Sealer({ log, codec, key, mac, clock: systemClock, logger: silent });
  await sealer.start();
  while (sealer.ordinal < EVENTS) await pause(1);
  await sealer.stop();
};

const verified = async (log: EventLog): Promise<void> => {
  const { ok, events } = await verifyLog(log, { publicKeys: [key.publicKey] });
  if (!ok || events !== EVENTS) throw new Error(`verified ${events} events: ${String(ok)}`);
};

const rate = async (work: () => Promise<void>): Promise<number> => {
  const started = performance.now();
  await work();
  return EVENTS / ((performance.now() - started) / 1000);
};

const run = async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'load-'));
  const log = await openSqliteEventLog({ folder });
  stampAppends(log, mac);
  try {
    await fill(log);
    const baseline = await rate(() => bare(log));
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const sealing = await rate(() => seal(log));
    const verifying = await rate(() => verified(log));
    delay.disable();
    const line = (name: string, value: number): string =>
      `${name.padEnd(26)} ${Math.round(value).toLocaleString('en').padStart(9)} events/s   ${(value / baseline).toFixed(2)} of the bare loop`;
    process.stdout.write(
      `${[line('bare: read, hash twice', baseline), line('seal', sealing), line('verify', verifying), `main loop never blocked over ${(delay.max / 1e6).toFixed(1)} ms; peak memory ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`].join('\n')}\n`,
    );
  } finally {
    await log.close();
    rmSync(folder, { recursive: true });
  }
};

void run();
