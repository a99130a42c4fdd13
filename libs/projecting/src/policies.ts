import type { EventLog } from '@app/event-log';
import { type Clock, type EventCodec, type Position, refuse } from '@app/kernel';
import type { ReadStore } from '@app/read-store';
import type { DeadLetter } from './dead-letter';
import { ProjectingEvents } from './events';
import { Lease } from './lease';
import type { Logger } from './logger';
import { PolicyRunner } from './policy-runner';
import type { Policy } from './projection';

export interface PoliciesOptions {
  readonly log: EventLog;
  readonly codec: EventCodec;
  /** Where the lease is kept: one process runs the policies. */
  readonly readStore: ReadStore;
  readonly policies: readonly Policy[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly leaseMs?: number;
}

export interface PolicyStatus {
  readonly name: string;
  readonly state: 'running' | 'stopped';
  readonly position: Position | null;
  readonly deadLetters: number;
}

/** Runs the policies: durable reactions to events, each from its own place in the log. Rebuilds know nothing of them. */
export class Policies {
  readonly events = new ProjectingEvents();
  private readonly runners = new Map<string, PolicyRunner>();
  private readonly lease: Lease;

  constructor(private readonly options: PoliciesOptions) {
    const names = options.policies.map(({ name }) => name);
    if (new Set(names).size < names.length) throw new Error(`a policy is defined twice: ${names.join(', ')}`);
    const { readStore, clock, logger, leaseMs } = options;
    this.lease = new Lease({ store: readStore, name: 'policies', clock, logger, onTaken: () => this.open(), onLost: () => this.close(), ...(leaseMs === undefined ? {} : { leaseMs }) });
  }

  async start(): Promise<void> {
    await this.lease.start();
  }

  /** Resolves when the reactions under way have ended and the places are recorded. */
  async stop(): Promise<void> {
    await this.lease.stop();
  }

  status(): readonly PolicyStatus[] {
    return this.options.policies.map(({ name }) => {
      const runner = this.runners.get(name);
      return { name, state: runner === undefined ? 'stopped' : 'running', position: runner?.position ?? null, deadLetters: runner?.letters.length ?? 0 };
    });
  }

  deadLetters(): readonly DeadLetter[] {
    return [...this.runners.values()].flatMap(({ letters }) => letters).toSorted((a, b) => (a.position < b.position ? -1 : 1));
  }

  /** Refuses with `not_found`. */
  deadLetter(id: string): DeadLetter {
    return this.deadLetters().find((letter) => letter.id === id) ?? refuse('not_found');
  }

  /** Reacts to the event and to what waits behind it, in order. Resolves to the dead letter that is left, if one is. */
  async retryDeadLetter(id: string): Promise<DeadLetter | undefined> {
    return this.replay(id, false);
  }

  /** Gives the event up and reacts to what waits behind it. */
  async discardDeadLetter(id: string): Promise<DeadLetter | undefined> {
    return this.replay(id, true);
  }

  private async replay(id: string, discard: boolean): Promise<DeadLetter | undefined> {
    const letter = this.deadLetter(id);
    return this.runners.get(letter.name)?.replay(letter, { discard });
  }

  private async open(): Promise<void> {
    const { logger } = this.options;
    const onFenced = (): void => void this.lease.lose().catch((error: unknown) => logger.error({ error }, 'the policies could not be stopped'));
    await Promise.all(this.options.policies.map(async (policy) => this.runners.set(policy.name, await PolicyRunner.start({ ...this.options, policy, events: this.events, onFenced }))));
  }

  private async close(): Promise<void> {
    const runners = [...this.runners.values()];
    this.runners.clear();
    await Promise.all(runners.map((runner) => runner.stop()));
  }
}
