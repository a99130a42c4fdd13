import type { CoordinationStore } from '@app/coordination';
import type { Clock } from '@app/kernel';
import { z } from 'zod';
import { ingestionStep, type IngestionStep } from '../document/document.events';

/** Where a running attempt stands: `done` of `total` passages in its step. */
export const ingestionProgress = z.object({
  documentId: z.uuid(),
  attempt: z.number().int(),
  step: ingestionStep,
  done: z.number().int(),
  total: z.number().int().nullable(),
  at: z.iso.datetime(),
});
export type IngestionProgress = z.output<typeof ingestionProgress>;

/** Progress is written at most this often while a step goes on, milliseconds. */
const INTERVAL_MS = 300;

const PREFIX = 'ingestion-progress/';

/** Progress of running attempts, which any process may show; removed when the attempt ends. */
export class ProgressBoard {
  private readonly written = new Map<string, number>();

  constructor(
    private readonly store: Pick<CoordinationStore, 'write'>,
    private readonly clock: Clock,
  ) {}

  async show(
    documentId: string,
    attempt: number,
    step: IngestionStep,
    done: number,
    total: number | null,
  ): Promise<void> {
    const now = this.clock.now();
    const last = this.written.get(documentId) ?? 0;
    if (done > 0 && done !== total && now.getTime() - last < INTERVAL_MS) return;
    this.written.set(documentId, now.getTime());
    await this.store.write(PREFIX + documentId, {
      documentId,
      attempt,
      step,
      done,
      total,
      at: now.toISOString(),
    } satisfies IngestionProgress);
  }

  async clear(documentId: string): Promise<void> {
    this.written.delete(documentId);
    await this.store.write(PREFIX + documentId, null);
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
