import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { type RetryOptions, retry, syncToDisk, unfinishedName } from '@app/kernel';
import { checkRecordsUnder, type KeyRecord, type Vault } from '@app/vault';
import { z } from 'zod';
import { BackupError } from './manifest';
import { namingWrites } from './naming-writes';

const RECORDS_AT_ONCE = 500;

const header = z.strictObject({ format: z.literal('agent-platform/keys'), version: z.literal(1) });
const record = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('destroyedOwner'), owner: z.string(), at: z.string() }),
  z.strictObject({ kind: z.literal('destroyed'), thing: z.string(), at: z.string(), cause: z.string() }),
  z.strictObject({
    kind: z.literal('key'),
    thing: z.string(),
    owner: z.strictObject({ userId: z.string().optional(), spaceId: z.string().optional() }),
    wrapped: z.base64(),
  }),
]);
const footer = z.strictObject({ records: z.number().int().nonnegative(), sha256: z.string() });

/**
 * Exports a vault to a file, with keys wrapped under `VAULT_KEY`: JSON lines between a header and a footer with a
 * count and a SHA-256. Only its owner may read it; it gets its name when it is complete. Waits for a vault that goes
 * away. Returns the number of keys.
 */
export const exportKeys = async (
  vault: Vault,
  file: string,
  options: RetryOptions = {},
): Promise<{ readonly keys: number }> => {
  const unfinished = unfinishedName(file);
  const out = await open(unfinished, 'wx', 0o600);
  const digest = createHash('sha256');
  const write = async (value: object): Promise<void> => {
    const line = `${JSON.stringify(value)}\n`;
    digest.update(line);
    await out.write(line);
  };
  let records = 0;
  let keys = 0;
  try {
    await namingWrites(file, async () => {
      await write({ format: 'agent-platform/keys', version: 1 } satisfies z.output<typeof header>);
      for await (const each of vault.records(options)) {
        await write(storedRecord(each));
        records += 1;
        if (each.kind === 'key') keys += 1;
      }
      await out.write(`${JSON.stringify({ records, sha256: digest.digest('hex') })}\n`);
      await out.sync();
    });
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  } finally {
    await out.close();
  }
  await rename(unfinished, file);
  await syncToDisk(dirname(resolve(file)));
  return { keys };
};

/**
 * Imports a file of `exportKeys` into a vault. Waits for a vault that goes away; repeat it after an interruption. A
 * key that either of the two knows as destroyed stays destroyed. Throws `BackupError` for an incomplete file and
 * `WrongVaultKey` for another `VAULT_KEY`, before it changes anything.
 */
export const importKeys = async (
  file: string,
  vault: Vault,
  options: RetryOptions = {},
): Promise<{ readonly keys: number; readonly erased: number }> => {
  await mustBeWhole(file);
  let waiting: KeyRecord[] = [];
  let keys = 0;
  let erased = 0;
  const merge = async (): Promise<void> => {
    const records = waiting;
    waiting = [];
    erased += (await retry(() => vault.merge(records), options)).erased;
  };
  for await (const each of recordsIn(file)) {
    waiting.push(each);
    if (each.kind === 'key') keys += 1;
    if (waiting.length === RECORDS_AT_ONCE) await merge();
  }
  await merge();
  return { keys, erased };
};

/**
 * Whether a file of `exportKeys` can be imported under a `VAULT_KEY`, before a vault is made under it: that would take no other
 * from then on. Throws as `importKeys` does.
 */
export const checkKeys = async (file: string, vaultKey: string): Promise<void> => {
  await mustBeWhole(file);
  for await (const each of recordsIn(file)) {
    checkRecordsUnder([each], vaultKey);
    if (each.kind === 'key') return;
  }
};

const mustBeWhole = async (file: string): Promise<void> => {
  const digest = createHash('sha256');
  let last: string | undefined;
  let lines = 0;
  for await (const line of linesOf(file)) {
    if (last !== undefined) digest.update(`${last}\n`);
    else if (!header.safeParse(jsonOf(line)).success) throw new BackupError(`${file} is not a file of keys`);
    last = line;
    lines += 1;
  }
  const end = footer.safeParse(jsonOf(last ?? '')).data;
  if (end === undefined) throw new BackupError(`${file} was cut off`);
  if (end.records !== lines - 2 || end.sha256 !== digest.digest('hex')) throw new BackupError(`${file} was changed`);
};

async function* recordsIn(file: string): AsyncGenerator<KeyRecord> {
  for await (const line of linesOf(file)) {
    const value = jsonOf(line);
    if (header.safeParse(value).success || footer.safeParse(value).success) continue;
    const stored = record.parse(value);
    if (stored.kind === 'destroyedOwner') yield stored;
    else {
      const { thing, ...rest } = stored;
      yield { ...rest, stream: thing } as KeyRecord;
    }
  }
}

/** A record as the file has it: a stream is stored as `thing`. */
const storedRecord = (each: KeyRecord): z.output<typeof record> => {
  if (each.kind === 'destroyedOwner') return each;
  const { stream, ...rest } = each;
  return { ...rest, thing: stream } as z.output<typeof record>;
};

const linesOf = (file: string): AsyncIterable<string> =>
  createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity });

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};
