import { COORDINATION_STORE, type CoordinationStore } from '@app/coordination';
import { unlessLeft } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';

/** How far a build is: `done` of about `total` summaries. */
const buildProgress = z.object({ build: z.number().int(), done: z.number().int(), total: z.number().int() });
export type BuildProgress = z.output<typeof buildProgress>;

/** Progress is written at most this often, milliseconds. */
const INTERVAL_MS = 300;

const PREFIX = 'summary-progress/';

/** Progress of running builds, which any process may show; removed when the build ends. Where the store is away it is left out: the build goes on. */
@Injectable()
export class ProgressBoard {
  private readonly written = new Map<string, number>();

  constructor(@Inject(COORDINATION_STORE) private readonly store: Pick<CoordinationStore, 'read' | 'write'>) {}

  async show(agentId: string, progress: BuildProgress): Promise<void> {
    const now = performance.now();
    const last = this.written.get(agentId);
    if (last !== undefined && now - last < INTERVAL_MS) return;
    this.written.set(agentId, now);
    await unlessLeft(() => this.store.write(PREFIX + agentId, progress));
  }

  /** The progress of a build; undefined where that one does not run. */
  async read(agentId: string, build: number): Promise<BuildProgress | undefined> {
    const state = await this.store.read(PREFIX + agentId);
    const progress = state === undefined ? undefined : buildProgress.parse(state);
    return progress?.build === build ? progress : undefined;
  }

  async clear(agentId: string): Promise<void> {
    this.written.delete(agentId);
    await unlessLeft(() => this.store.write(PREFIX + agentId, null));
  }
}
