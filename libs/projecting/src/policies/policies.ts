import { type Ask, type CoordinationStore, type Leases, type LeaseMember, led } from '@app/coordination';
import type { EventLog } from '@app/event-log';
import {
  type Clock,
  errorName,
  type EventCodec,
  type Json,
  type Logger,
  type Plain,
  type Position,
  reject,
} from '@app/kernel';
import { type DeadLetter, letterJson } from '../dead-letter';
import { ProjectingEvents } from '../events';
import { lagOf } from '../lag';
import { CountedOrdinals, type Ordinals } from '../ordinals';
import { PolicyJournal } from './policy-journal';
import { type PolicyFailure, PolicyRunner } from './policy-runner';
import type { Policy } from '../projection';

const GROUP = 'policies';
/** Where the process that runs the policies says how they are doing, for the others. */
const REPORT = 'policies';
const REPORT_MS = 5_000;

/** Runs one policy, or another reader of the log that acts, from its recorded place. */
export type Runner = Pick<PolicyRunner, 'position' | 'failure' | 'letters' | 'replay' | 'stop'>;

/**
 * A reader of the log that acts in its own way, but stores its place and its dead letters like policies
 * (`PolicyJournal`).
 */
export interface Reader {
  readonly name: string;
  /** Runs from the recorded place on. Calls `onFenced` when another process runs it too. */
  start(onFenced: () => void): Promise<Runner>;
}

/** What policies read, and where they keep their places. */
export interface PoliciesOptions {
  readonly log: EventLog;
  readonly codec: EventCodec;
  /** Where the process that runs the policies says how they are doing. */
  readonly coordination: Pick<CoordinationStore, 'read' | 'write'>;
  /** More may be added until the start. */
  readonly policies?: readonly Policy[] | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Counts of the log; by default the log is counted once. */
  readonly ordinals?: Ordinals;
  /** Finds the one process that runs the policies. */
  readonly leases: Leases;
}

/** How a policy is doing. `lagSeconds`: age of the oldest event that it has not reacted to. */
export interface PolicyStatus {
  readonly name: string;
  readonly state: 'running' | 'stopped';
  /** Everything up to here was reacted to. */
  readonly position: Position | null;
  /** Null where nobody has counted them: the log is not sealed so far. */
  readonly lagEvents: number | null;
  readonly lagSeconds: number;
  readonly deadLetters: number;
  /** What it tries again now. */
  readonly failure?: PolicyFailure;
}

/** The policies: durable reactions to events, each from its own place in the log. One process runs them; rebuilds know nothing of them. */
export class Policies {
  readonly events = new ProjectingEvents();
  private readonly runners = new Map<string, Runner>();
  private readonly readers: Reader[] = [];
  private readonly ordinals: Ordinals;
  private members: readonly LeaseMember[] = [];
  private reporting: NodeJS.Timeout | undefined;
  private unserve: (() => Promise<void>) | undefined;

  constructor(private readonly options: PoliciesOptions) {
    for (const policy of options.policies ?? []) this.add(policy);
    this.ordinals = options.ordinals ?? new CountedOrdinals(options.log);
  }

  /** One more policy, before the start. */
  add(policy: Policy): void {
    this.addReader(this.readerOf(policy));
  }

  /** Another reader that is run beside the policies, before the start. */
  addReader(reader: Reader): void {
    if (this.readers.some(({ name }) => name === reader.name))
      throw new Error(`a policy is defined twice: ${reader.name}`);
    this.readers.push(reader);
  }

  /** Runs the policies here, or stands by while another process does. */
  async start(): Promise<void> {
    const { alone } = this.leases.processes;
    if (!alone) {
      this.unserve = this.leases.requests.serve((ask) => this.serve(ask));
      this.reporting = setInterval(
        () =>
          void this.report().catch((error: unknown) =>
            this.options.logger.warn({ error: errorName(error) }, 'Publishing the state of policies failed; retrying.'),
          ),
        REPORT_MS,
      ).unref();
    }
    this.members = await this.leases.join([led(GROUP, 0, { start: () => this.open(), stop: () => this.close() })]);
  }

  /** Resolves when the reactions under way have ended and the places are recorded. */
  async stop(): Promise<void> {
    clearInterval(this.reporting);
    await this.unserve?.();
    await this.leases.leave(this.members);
  }

  /** How each policy is doing, whichever process runs it. */
  async status(): Promise<readonly PolicyStatus[]> {
    if (this.isHere) return Promise.all(this.readers.map(({ name }) => this.statusOf(name)));
    const reported = ((await this.options.coordination.read(REPORT)) ?? []) as readonly Plain<PolicyStatus>[];
    const isRun = (await this.leases.status()).some(({ group, holder }) => group === GROUP && holder !== null);
    // If no process runs the policies, their last state stays the same while the log grows.
    return isRun
      ? reported
      : Promise.all(
          reported.map(async (status) => ({
            ...status,
            state: 'stopped' as const,
            ...(await this.lagAt(status.position)),
          })),
        );
  }

  async deadLetters(): Promise<readonly DeadLetter[]> {
    const letters = this.isHere
      ? [...this.runners.values()].map((runner) => runner.letters)
      : await Promise.all(this.readers.map((reader) => this.recorded(reader)));
    return letters.flat().toSorted((a, b) => (a.position < b.position ? -1 : 1));
  }

  /** Throws `not_found`. */
  async deadLetter(id: string): Promise<DeadLetter> {
    return (
      (await this.deadLetters()).find((letter) => letter.id === id) ??
      reject('not_found', { kind: 'deadLetter', id: id })
    );
  }

  /** Reacts to the event and to what waits behind it, in order. Resolves to the dead letter that is left, if one is. */
  async retryDeadLetter(id: string): Promise<DeadLetter | undefined> {
    return this.replay(id, 'retry');
  }

  /** Gives the event up and reacts to what waits behind it. */
  async discardDeadLetter(id: string): Promise<DeadLetter | undefined> {
    return this.replay(id, 'discard');
  }

  private get leases(): Leases {
    return this.options.leases;
  }

  /** True when this process runs the policies, or would if anybody did. */
  private get isHere(): boolean {
    return this.leases.processes.alone || this.runners.size > 0;
  }

  private async replay(id: string, action: 'retry' | 'discard'): Promise<DeadLetter | undefined> {
    const letter = await this.deadLetter(id);
    if (this.isHere) return this.runners.get(letter.name)?.replay(letter, { discard: action === 'discard' });
    return ((await this.leases.requests.ask({ group: GROUP, unit: 0, action, given: { id } })) ?? undefined) as
      DeadLetter | undefined;
  }

  private async serve({ group, action, given }: Ask): Promise<{ readonly value: Json } | undefined> {
    if (group !== GROUP || this.runners.size === 0) return undefined;
    const left = await this.replay((given as { readonly id: string }).id, action === 'discard' ? 'discard' : 'retry');
    return { value: letterJson(left) };
  }

  private async recorded({ name }: Reader): Promise<readonly DeadLetter[]> {
    const { log, codec, clock } = this.options;
    return [...(await new PolicyJournal(name, log, codec, clock).letters()).values()];
  }

  private async statusOf(name: string): Promise<PolicyStatus> {
    const runner = this.runners.get(name);
    const position = runner?.position ?? null;
    const failure = runner?.failure;
    return {
      name,
      state: runner === undefined ? 'stopped' : 'running',
      position,
      ...(await this.lagAt(position)),
      deadLetters: runner?.letters.length ?? 0,
      ...(failure === undefined ? {} : { failure }),
    };
  }

  private async lagAt(position: Position | null): Promise<Pick<PolicyStatus, 'lagEvents' | 'lagSeconds'>> {
    const { lagEvents, lagSeconds } = await lagOf(position, this.options.log, this.ordinals, this.options.clock);
    return { lagEvents, lagSeconds };
  }

  private async report(): Promise<void> {
    if (this.runners.size === 0) return;
    await this.options.coordination.write(REPORT, (await this.status()) as readonly Plain<PolicyStatus>[]);
  }

  private async open(): Promise<void> {
    const { logger } = this.options;
    const onFenced = (): void => {
      for (const member of this.members)
        member
          .fenced()
          .catch((error: unknown) => logger.error({ error: errorName(error) }, 'Stopping the policies failed.'));
    };
    await Promise.all(this.readers.map(async (reader) => this.runners.set(reader.name, await reader.start(onFenced))));
  }

  private readerOf(policy: Policy): Reader {
    return {
      name: policy.name,
      start: (onFenced) => PolicyRunner.start({ ...this.options, policy, events: this.events, onFenced }),
    };
  }

  private async close(): Promise<void> {
    const runners = [...this.runners.values()];
    this.runners.clear();
    await Promise.all(runners.map((runner) => runner.stop()));
  }
}
