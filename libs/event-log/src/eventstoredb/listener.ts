import type { Position } from '@app/kernel';
import { FOLLOW_TIMES } from '../catch-up-subscription';
import { BatchedWake } from '../batched-wake';
import type { Connection } from './connection';
import { positionText } from './positions';
import type { EventStoreReadIndex } from './read-index';
import { subscriptionRequest } from './read-request';
import { serverFault, ServerFault } from './server-errors';
import type { ReadCall } from './transport';

interface Follower {
  /** Up to where it has read. */
  readonly position: () => Position | null;
  /** It is shown what others wrote, too. */
  readonly withForeign: boolean;
  readonly onAppended: () => void;
  readonly onLost: (error: unknown) => void;
}

/** Pause before a subscription that the server dropped is replaced, milliseconds. */
const REPLACE_MS = 100;
/** How often it is looked whether the subscription tells what the log holds, milliseconds. */
const LOOK_MS = FOLLOW_TIMES.silence / 3;

/**
 * One subscription for all followers of a process, used only as a signal to read the log: the server drops a listener
 * that is a moment too slow, reports "caught up" at will, and may fall silent. What is read then wakes the followers
 * and is shared by them. In silence the log is polled now and then, once for all.
 */
export class Listener {
  private readonly followers = new Set<Follower>();
  private subscription: ServerSubscription | undefined;
  private timer: NodeJS.Timeout | undefined;
  private watch: NodeJS.Timeout | undefined;
  private readonly waking = new BatchedWake(() => this.wake());
  /** What came since the last wake is nothing but a few events of others'. */
  private isOthers = true;
  /** What the log held of ours when it was last looked: it must have been told of by now. */
  private due: Position | null | undefined;
  private timeline: number | undefined;
  /** Of which log the followers were told last. */
  private rung: number | undefined;

  constructor(
    private readonly connection: Connection,
    private readonly index: EventStoreReadIndex,
  ) {}

  /** To be called by those who have read up to the end of the log; they read once more then, for what came in between. */
  add(follower: Follower): () => void {
    this.followers.add(follower);
    if (this.subscription === undefined) this.subscribe();
    return () => {
      this.followers.delete(follower);
      if (this.followers.size === 0) this.stop();
    };
  }

  /** The log was found to go on, or to be another. `isOthers`: by a few events of others'. */
  onNews(isOthers: boolean): void {
    this.isOthers &&= isOthers;
    this.waking.onAppended();
  }

  /** Somebody waits for the followers to see what stands at a position. */
  deliverNow(position: Position): void {
    this.follow(position, () => this.waking.wakeNow());
  }

  stop(): void {
    clearTimeout(this.timer);
    clearInterval(this.watch);
    this.subscription?.cancel();
    this.subscription = undefined;
  }

  private subscribe(): void {
    this.stop();
    const { index } = this;
    const after = index.newest ?? null;
    const subscription = new ServerSubscription(this.connection, after, {
      onHeard: (position) => this.follow(position),
      onDropped: (fault) => {
        if (this.subscription === subscription) this.drop(fault);
      },
    });
    this.subscription = subscription;
    this.due = undefined;
    this.timeline = index.timeline;
    this.rung ??= index.timeline;
    this.watch = setInterval(() => this.look(), LOOK_MS).unref();
  }

  private follow(position: Position, then: () => void = () => undefined): void {
    this.index.reach(position).then(then, (error: unknown) => this.lose(error));
  }

  /**
   * A dropped listener is replaced silently. If the server is gone, each follower is notified and returns by itself.
   */
  private drop(fault: ServerFault): void {
    this.stop();
    if (fault.fault === 'dropped')
      this.timer = setTimeout(() => this.subscribe(), REPLACE_MS * (0.5 + Math.random() / 2));
    else this.lose(fault);
  }

  private lose(error: unknown): void {
    this.stop();
    const told = [...this.followers];
    this.followers.clear();
    for (const { onLost } of told) onLost(error);
  }

  /** Asks the log if no one has for a while. Replaces a subscription that misses events or follows another log. */
  private look(): void {
    const { subscription, due, timeline, index } = this;
    if (subscription === undefined) return;
    if (timeline !== index.timeline || (subscription.heard ?? '') < (due ?? '')) this.subscribe();
    this.due = index.newestOfOurs;
    const isBehind = subscription.heard !== null && index.isBeyond(subscription.heard);
    if (isBehind || performance.now() - index.askedAt >= FOLLOW_TIMES.silence)
      index.ask().catch((error: unknown) => this.lose(error));
  }

  /** Wakes the followers that have new events to read, or all of them if the log was replaced. */
  private wake(): void {
    const { isOthers, rung } = this;
    const { newest, timeline } = this.index;
    // The other log may end before the places at which they wait.
    const isRestored = rung !== undefined && rung !== timeline;
    this.rung = timeline;
    this.isOthers = true;
    for (const { position, withForeign, onAppended } of this.followers)
      if (isRestored || ((withForeign || !isOthers) && (newest ?? '') > (position() ?? ''))) onAppended();
  }
}

interface Handlers {
  readonly onHeard: (position: Position) => void;
  readonly onDropped: (fault: ServerFault) => void;
}

class ServerSubscription {
  private call: ReadCall | undefined;
  private isCancelled = false;

  constructor(
    connection: Connection,
    /** Up to where it told what there is of ours. */
    public heard: Position | null,
    { onHeard, onDropped }: Handlers,
  ) {
    const attach = (call: ReadCall): void => {
      this.call = call;
      call.on('data', (response) => {
        const commit =
          response.getEvent()?.getEvent()?.getCommitPosition() ?? response.getCheckpoint()?.getCommitPosition();
        if (commit === undefined) return;
        this.heard = positionText(commit);
        onHeard(this.heard);
      });
      call.on('error', (error) => onDropped(serverFault(error)));
      call.on('end', () => onDropped(new ServerFault('dropped')));
    };
    connection
      .read(subscriptionRequest(heard, connection.ours?.streamPrefixes), attach, () => !this.isCancelled)
      .catch((error: unknown) => onDropped(serverFault(error)));
  }

  cancel(): void {
    this.isCancelled = true;
    this.call?.cancel();
  }
}
