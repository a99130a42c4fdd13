import {
  type Clock,
  CLOCK,
  type Decider,
  Decisions,
  deriveId,
  type EventsOf,
  type Ids,
  IDS,
  isDomainError,
  type Uuid,
} from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { apiKeyUsed } from './api-key.events';

/** `lastUsedAt` is exact to this, so that a request costs no write. */
export const USE_NOTED_EVERY_MS = 10 * 60_000;

interface Use {
  /** ISO 8601 UTC. */
  readonly lastUsedAt: string | null;
}

interface NoteUse {
  readonly keyId: string;
  readonly at: Date;
}

/** Uses of a key have their own stream, so they do not change the key's revision. */
export const apiKeyUseDecider: Decider<Use, NoteUse, EventsOf<[typeof apiKeyUsed]>> = {
  category: 'apiKeyUse',
  initial: { lastUsedAt: null },
  decide: ({ keyId, at }, { lastUsedAt }) =>
    lastUsedAt !== null && at.getTime() - Date.parse(lastUsedAt) < USE_NOTED_EVERY_MS
      ? []
      : [{ type: 'ApiKeyUsed', data: { keyId } }],
  evolve: (_, event) => ({ lastUsedAt: event.context.recordedAt }),
};

/** Records the use of keys, after the requests that use them. */
@Injectable()
export class ApiKeyUse {
  private readonly noted = new Map<Uuid, number>();

  constructor(
    private readonly decisions: Decisions,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  /** Whether a use at a time (milliseconds) is far enough from the last recorded one. */
  isDue(keyId: Uuid, at: number): boolean {
    return at - (this.noted.get(keyId) ?? 0) >= USE_NOTED_EVERY_MS;
  }

  /** Resolves at once if the use of this key is recorded already. Rejects if the log does not accept it; the next use retries. */
  async note(keyId: Uuid): Promise<void> {
    const now = this.clock.now();
    if (!this.isDue(keyId, now.getTime())) return;
    this.noted.set(keyId, now.getTime());
    const commandId = this.ids.next();
    try {
      await this.decisions.transact(
        apiKeyUseDecider,
        keyId,
        { keyId, at: now },
        { commandId, correlationId: deriveId(commandId, 'use'), actor: 'system:api-key-use', now },
      );
    } catch (error) {
      this.noted.delete(keyId);
      if (!isDomainError(error, 'conflict')) throw error;
    }
  }
}
