import { IncognitoConversations, Titler, Turns } from '@app/conversations';
import { Processes } from '@app/coordination';
import { LOGGER, Resources } from '@app/kernel';
import { EVENT_RELAY, type Relay } from '@app/relay';
import { Ledger } from '@app/spending';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from 'pino';

/** How long answers that nobody waits for any more may take to end. */
const ANSWER_GRACE_MS = 5_000;
/** How long providers may take to say what answers used whose clients left, and the log to take it. */
const SETTLE_GRACE_MS = 8_000;

/** A part that a process may run, beside what it answers over HTTP. */
export interface Role {
  start(): Promise<void>;
  /** Resolves when what is in hand has ended. */
  stop(): Promise<void>;
}

/** Injection token of the `LogFollower`s: none in a process that is alone. */
export const LOG_FOLLOWERS = Symbol('LogFollowers');
/** Does here what another process says in the log. */
export interface LogFollower {
  start(): void;
  stop(): Promise<void>;
}

/** What a process runs: undefined is run by another one. */
export interface Roles {
  readonly projector?: Role | undefined;
  readonly worker?: Role | undefined;
}

/**
 * Starts and stops background work in an order in which each part still finds what it needs. Nest's own hooks follow
 * the imports of modules, but calls, for example, can be settled only as long as views follow the log.
 */
@Injectable()
export class Lifecycle implements OnApplicationShutdown {
  private roles: Roles = {};
  private closing: Promise<void> | undefined;

  constructor(
    private readonly processes: Processes,
    @Inject(LOG_FOLLOWERS) private readonly followers: readonly LogFollower[],
    private readonly turns: Turns,
    private readonly titler: Titler,
    private readonly incognito: IncognitoConversations,
    private readonly ledger: Ledger,
    @Inject(EVENT_RELAY) private readonly relay: Relay | undefined,
    private readonly resources: Resources,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async start(roles: Roles): Promise<void> {
    this.roles = roles;
    await this.processes.start();
    for (const follower of this.followers) follower.start();
    await roles.projector?.start();
    await roles.worker?.start();
  }

  /** Once requests have ended: ends answers and documents in work, then what clients still hold open (`disconnect`), and settles every call. */
  async drain(disconnect: () => void): Promise<void> {
    this.titler.close();
    await Promise.all([this.turns.close(ANSWER_GRACE_MS), this.incognito.close(ANSWER_GRACE_MS)]);
    await this.roles.worker?.stop();
    disconnect();
    const unsettled = await this.ledger.close(SETTLE_GRACE_MS);
    if (unsettled > 0)
      this.logger.warn({ unsettled }, 'Some model calls were not settled in time. They may be missing from usage.');
  }

  onApplicationShutdown(): Promise<void> {
    return this.close();
  }

  /** Once nothing is answered any more: ends everything else, and closes the stores last. Repeated calls wait for the first. */
  close(): Promise<void> {
    this.closing ??= this.closeAll();
    return this.closing;
  }

  private async closeAll(): Promise<void> {
    await this.roles.projector?.stop();
    await this.relay?.close();
    await this.processes.stop();
    for (const follower of this.followers) await follower.stop();
    await this.resources.close();
  }
}
