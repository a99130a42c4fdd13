import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type EventLog, LogInUse, openSqliteEventLog } from '@app/event-log';
import type { StoredEvent } from '@app/kernel';
import type { Note } from './log/appending-child';
import { inRound, rounds, seed, seededNumbers } from './log/rounds';

/** Fault 1: kill -9 at a random moment during appends. Fault 46: two processes on one log. */

const number = seededNumbers();
const root = join(__dirname, '..', '..');
let folder: string;
let notes: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'log-kill-'));
  notes = join(folder, 'notes');
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Resolves when the child has appended something. */
const startAppending = async (): Promise<ChildProcess> => {
  const before = existsSync(notes) ? statSync(notes).size : 0;
  const child = spawn(
    process.execPath,
    ['--require', join(root, 'test/register.cjs'), join(root, 'test/faults/log/appending-child.ts'), folder, notes],
    { stdio: 'inherit' },
  );
  while (!existsSync(notes) || statSync(notes).size < before + 10_000) {
    if (child.exitCode !== null) throw new Error(`the child ended with ${child.exitCode}`);
    await pause(2);
  }
  return child;
};

const kill = async (child: ChildProcess): Promise<void> => {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
};

const readNotes = (): Note[] =>
  readFileSync(notes, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Note);

const readLog = async (log: EventLog): Promise<Map<string, StoredEvent[]>> => {
  const streams = new Map<string, StoredEvent[]>();
  for (let page = await log.readAll({ limit: 1_000 }); ; page = await log.readAll({ after: page.next, limit: 1_000 })) {
    for (const event of page.events) streams.set(event.stream, [...(streams.get(event.stream) ?? []), event]);
    if (page.end) return streams;
  }
};

const expectSound = (streams: ReadonlyMap<string, readonly StoredEvent[]>): void => {
  const written = readNotes();
  const sent = new Map(
    written.flatMap((note) => (note.kind === 'sent' ? note.events.map(({ id }) => [id, note] as const) : [])),
  );
  for (const note of written)
    if (note.kind === 'acknowledged') expect(streams.get(note.stream)?.[note.revision]?.position).toBe(note.position);
  for (const events of streams.values()) {
    expect(events.map(({ revision }) => revision)).toEqual(events.map((_event, index) => index));
    for (const { id } of events) {
      const append = sent.get(id);
      const whole = append?.events.map((event) => event.id);
      const first = (append?.revision ?? 0) + 1;
      expect(events.slice(first, first + (whole?.length ?? 0)).map((event) => event.id)).toEqual(whole);
    }
  }
};

/** Appends whose answer never came are sent again: each stands once then, whether it had been stored or not. */
const settle = async (log: EventLog): Promise<void> => {
  const last = new Map<string, Note>();
  for (const note of readNotes()) last.set(note.stream, note);
  for (const note of last.values()) {
    if (note.kind !== 'sent') continue;
    const answer = await log.append(note.stream, note.events, note.revision < 0 ? 'noStream' : note.revision);
    expect((await log.readStream(note.stream)).map(({ id }) => id).slice(note.revision + 1)).toEqual(
      note.events.map(({ id }) => id),
    );
    expect(answer.revision).toBe(note.revision + note.events.length);
  }
};

test(
  `a kill loses nothing acknowledged, tears no append and repeats none (SEED=${seed})`,
  async () => {
    for (let round = 0; round < rounds(3); round += 1) {
      await inRound(round, async () => {
        const child = await startAppending();
        await expect(openSqliteEventLog({ folder })).rejects.toThrow(LogInUse);
        await pause(number(50));
        await kill(child);

        const log = await openSqliteEventLog({ folder });
        try {
          expectSound(await readLog(log));
          await settle(log);
          expectSound(await readLog(log));
          expect(await log.health()).toEqual({ writable: true, readable: true });
        } finally {
          await log.close();
        }
      });
    }
  },
  30_000 + rounds(3) * 10_000,
);
