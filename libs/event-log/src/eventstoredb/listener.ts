import type { Position } from '@app/kernel';
import { FOLLOW_TIMES } from '../catch-up-subscription';
import type { Connection } from './connection';
import { positionText } from './positions';
import { subscriptionRequest } from './read-request';
import { serverFault, ServerFault } from './server-errors';
import type { ReadCall } from './transport';

interface Follower {
  /** Up to where it has read. */
  readonly position: () => Position | null;
  readonly onAppended: () => void;
  readonly onLost: (error: unknown) => void;
}

/** Pause before a subscription that the server dropped is replaced, milliseconds. */
const REPLACE_MS = 100;

/**
 * One subscription that wakes all followers of a process. What it hands over is not used: the server drops a listener that
 * is a moment too slow, says "caught up" when it likes, and may fall silent. Followers read pages instead.
 */
export class Listener {
  private readonly followers = new Set<Follower>();
  private subscription: ServerSubscription | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly connection: Connection,
    /** Told before followers are woken, and before one begins to listen. */
    private readonly onHeard: () => void,
  ) {}

  /** A silent subscription is replaced when somebody begins to listen: followers do each time they heard nothing for long. */
  add(follower: Follower): () => void {
    this.onHeard();
    this.followers.add(follower);
    if (this.subscription === undefined || this.subscription.silence >= FOLLOW_TIMES.silence) this.subscribe();
    return () => {
      this.followers.delete(follower);
      if (this.followers.size === 0) this.stop();
    };
  }

  stop(): void {
    clearTimeout(this.timer);
    this.subscription?.cancel();
    this.subscription = undefined;
  }

  private subscribe(): void {
    this.stop();
    const subscription = new ServerSubscription(this.connection, this.furthest(), {
      onHeard: (position) => this.ring(position),
      onDropped: (fault) => {
        if (this.subscription === subscription) this.drop(fault);
      },
    });
    this.subscription = subscription;
  }

  /** A dropped listener is replaced in quiet; when the server is gone, each follower is told and comes back by itself. */
  private drop(fault: ServerFault): void {
    this.stop();
    if (fault.fault === 'dropped') {
      this.timer = setTimeout(() => this.subscribe(), REPLACE_MS * (0.5 + Math.random() / 2));
      return this.ring();
    }
    for (const { onLost } of this.followers) onLost(fault);
    this.followers.clear();
  }

  /** Wakes those who have not read a position; all without one, as when a subscription begins: what came before is not told. */
  private ring(appended?: Position): void {
    this.onHeard();
    for (const { position, onAppended } of this.followers) {
      const read = appended === undefined ? null : position();
      if (appended === undefined || read === null || read < appended) onAppended();
    }
  }

  /** The others are woken when the subscription begins, and read what is between. */
  private furthest(): Position | null {
    const positions = [...this.followers].map(({ position }) => position() ?? '').toSorted();
    return positions.at(-1) || null;
  }
}

interface Handlers {
  /** With the position of an event, or how far the server has come, or without one when the subscription begins. */
  readonly onHeard: (position?: Position) => void;
  readonly onDropped: (fault: ServerFault) => void;
}

class ServerSubscription {
  private heardAt = performance.now();
  private call: ReadCall | undefined;
  private isCancelled = false;

  constructor(connection: Connection, after: Position | null, { onHeard, onDropped }: Handlers) {
    const attach = (call: ReadCall): void => {
      this.call = call;
      call.on('data', (response) => {
        this.heardAt = performance.now();
        const commit = response.getEvent()?.getEvent()?.getCommitPosition() ?? response.getCheckpoint()?.getCommitPosition();
        if (commit !== undefined) onHeard(positionText(commit));
        else if (response.hasConfirmation()) onHeard();
      });
      call.on('error', (error) => onDropped(serverFault(error)));
      call.on('end', () => onDropped(new ServerFault('dropped')));
      if (this.isCancelled) call.cancel();
    };
    connection.read(subscriptionRequest(after, connection.ours?.streamPrefixes), attach).catch((error: unknown) => onDropped(serverFault(error)));
  }

  /** Milliseconds since anything was heard. */
  get silence(): number {
    return performance.now() - this.heardAt;
  }

  cancel(): void {
    this.isCancelled = true;
    this.call?.cancel();
  }
}
