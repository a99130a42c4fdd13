import type { StoredEvent } from '@app/kernel';
import { REMOVAL_STREAM } from '../removal';
import { SEAL_STREAM } from '../event-hash';
import { type Finding, type KnownSeal, MOST_LISTED, type Verification } from '../verify/verification';
import { verify } from '../verify/verify';
import type { Damage, VerifySource } from '../verify/verify-source';
import { beginsStream, type ExportHeader, type ExportItem } from './export-format';
import { checkFile, exportItems, exportLines, itemOf, wrongFile } from './read-export';

/** How an export is verified; `since`: a seal that was noted before. */
export interface VerifyExportOptions {
  /**
   * Public keys that the verifier trusts. Without any, the key in the file is used, which only proves that nobody
   * without that key changed the file.
   */
  readonly publicKeys?: readonly string[];
  readonly since?: KnownSeal | undefined;
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
}

/** What verification found of an export. */
export interface ExportVerification extends Verification {
  /** The key that the file names. */
  readonly publicKey: string | null;
  /** Whether that key was taken from the file alone. */
  readonly trustsFile: boolean;
}

/** Verifies an export with nothing but the file. */
export const verifyExport = async (
  file: string,
  { publicKeys = [], since, onProgress }: VerifyExportOptions = {},
): Promise<ExportVerification> => {
  const wrong = [...(await checkFile(file).catch((error: unknown) => damagedGzip(error).map(wrongFile)))];
  const header = await headerOf(file);
  const trustsFile = publicKeys.length === 0;
  const trusted = trustsFile && header !== undefined ? [header.publicKey] : publicKeys;
  const stray = new StrayLines();
  const verification = await verify(exportSource(file, header, stray), { publicKeys: trusted, since, onProgress });
  wrong.push(...stray.findings(verification.findings));
  const findings: readonly Finding[] = [...wrong, ...verification.findings];
  return {
    ...verification,
    ok: findings.length === 0,
    findings,
    findingsInAll: verification.findingsInAll + wrong.length,
    publicKey: header?.publicKey ?? null,
    trustsFile,
  };
};

const headerOf = async (file: string): Promise<ExportHeader | undefined> => {
  try {
    for await (const item of exportItems(file)) return item.kind === 'header' ? item.header : undefined;
  } catch (error) {
    damagedGzip(error);
  }
  return undefined;
};

const exportSource = (file: string, header: ExportHeader | undefined, stray: StrayLines): VerifySource => ({
  seals: () => streamIn(file, SEAL_STREAM),
  events: () => eventsIn(file, stray),
  receipts: () => streamIn(file, REMOVAL_STREAM),
  total: async () => header?.ordinal ?? 0,
});

const unreadable = (line: number): string => `line ${line} of the file cannot be read`;

/** Misplaced lines: unreadable ones, a header further down, a footer before another. */
class StrayLines {
  private readonly lines = new Set<number>();
  private footer: number | undefined;

  add({ kind }: ExportItem, line: number): void {
    if (kind === 'footer') {
      if (this.footer !== undefined) this.note(this.footer);
      this.footer = line;
    }
    if (kind === 'unreadable' || (kind === 'header' && line > 1)) this.note(line);
  }

  /** Of those that no finding names yet, such as one for the event that was in its place. */
  findings(known: readonly Finding[]): readonly Finding[] {
    const named = new Set(known.map(({ detail }) => detail));
    return [...this.lines]
      .filter((line) => !named.has(unreadable(line)))
      .map((line) => ({ kind: 'file', detail: `line ${line} belongs to no export` }));
  }

  private note(line: number): void {
    if (this.lines.size < MOST_LISTED) this.lines.add(line);
  }
}

async function* eventsIn(file: string, stray: StrayLines): AsyncGenerator<StoredEvent | Damage> {
  let line = 0;
  try {
    for await (const item of exportItems(file)) {
      line += 1;
      stray.add(item, line);
      if (item.kind === 'event') yield item.event;
      if (item.kind === 'unreadable') yield { damage: unreadable(line) };
    }
  } catch (error) {
    const [detail = ''] = damagedGzip(error);
    yield { damage: `the file cannot be read after line ${line}: ${detail}` };
  }
}

async function* streamIn(file: string, stream: string): AsyncGenerator<StoredEvent | Damage> {
  const beginning = beginsStream(stream);
  try {
    for await (const line of exportLines(file)) {
      if (!line.subarray(0, beginning.length).equals(beginning)) continue;
      const item = itemOf(line);
      if (item.kind === 'event' && item.event.stream === stream) yield item.event;
    }
  } catch (error) {
    // Said once, where the events are read.
    damagedGzip(error);
  }
}

/** Invalid gzip bytes are a finding; everything else, such as a missing file, is a failure. */
const damagedGzip = (error: unknown): readonly string[] => {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code?.startsWith('Z_') !== true && message !== 'unexpected end of file') throw error;
  return [`gzip says ${message}`];
};
