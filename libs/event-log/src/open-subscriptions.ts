import type { Subscription } from './event-log';

/** The subscriptions of a log that were not stopped yet: they end with it. */
export class OpenSubscriptions {
  private readonly open = new Set<Subscription>();

  /** The subscription to hand out. */
  add(subscription: Subscription): Subscription {
    this.open.add(subscription);
    return {
      get position() {
        return subscription.position;
      },
      get caughtUp() {
        return subscription.caughtUp;
      },
      stop: () => {
        this.open.delete(subscription);
        return subscription.stop();
      },
    };
  }

  /** Resolves when the pages in hand are handled. */
  async stop(): Promise<void> {
    const open = [...this.open];
    this.open.clear();
    await Promise.all(open.map((subscription) => subscription.stop()));
  }
}
