import type { CoordinationStore } from '@app/coordination';
import type { Clock } from '@app/kernel';
import { z } from 'zod';
import { ingestionStep, type IngestionStep } from '../document/document.events';

/** The progress of a running attempt: `done` of `total` passages in its step. */
export const ingestionProgress = z.object({
  documentId: z.uuid(),
  attempt: z.number().int(),
  step: ingestionStep,
  done: z.number().int(),
  total: z.number().int().nullable(),
  at: z.iso.datetime(),
});
export type IngestionProgress = z.output<typeof ingestionProgress>;

/**
 * How often progress is written during an attempt, milliseconds. Shorter work has no progress: nobody could follow it.
 */
const INTERVAL_MS = 300;

const PREFIX = 'ingestion-progress/';

/** What this process knows of an attempt. */
interface Running {
  /** What was not written yet. */
  latest?: IngestionProgress | undefined;
  writing?: Promise<unknown> | undefined;
  isWritten: boolean;
  readonly timer: NodeJS.Timeout;
}

/** Progress of running attempts, which any process may show; removed when the attempt ends. */
export class ProgressBoard {
  private readonly running = new Map<string, Running>();

  constructor(
    private readonly store: Pick<CoordinationStore, 'write'>,
    private readonly clock: Clock,
    /** Hears what went wrong; the work goes on. */
    private readonly onError: (error: unknown, documentId: string) => void,
  ) {}

  show(documentId: string, attempt: number, step: IngestionStep, done: number, total: number | null): void {
    const running = this.running.get(documentId) ?? this.begin(documentId);
    running.latest = { documentId, attempt, step, done, total, at: this.clock.now().toISOString() };
  }

  /** `isLeft`: an earlier attempt may have left what its process could not remove any more. */
  async clear(documentId: string, isLeft: boolean): Promise<void> {
    const running = this.running.get(documentId);
    this.running.delete(documentId);
    clearInterval(running?.timer);
    await running?.writing;
    if (isLeft || running?.isWritten === true) await this.store.write(PREFIX + documentId, null);
  }

  private begin(documentId: string): Running {
    const timer = setInterval(() => this.write(documentId, running), INTERVAL_MS).unref();
    const running: Running = { isWritten: false, timer };
    this.running.set(documentId, running);
    return running;
  }

  private write(documentId: string, running: Running): void {
    const { latest, writing } = running;
    if (latest === undefined || writing !== undefined) return;
    running.latest = undefined;
    running.isWritten = true;
    running.writing = this.store
      .write(PREFIX + documentId, latest)
      .catch((error: unknown) => this.onError(error, documentId))
      .finally(() => (running.writing = undefined));
  }
}

/** The progress of a document's running attempt; undefined when none runs. */
export const readProgress = async (
  store: Pick<CoordinationStore, 'read'>,
  documentId: string,
): Promise<IngestionProgress | undefined> => {
  const state = await store.read(PREFIX + documentId);
  return state === undefined ? undefined : ingestionProgress.parse(state);
};
