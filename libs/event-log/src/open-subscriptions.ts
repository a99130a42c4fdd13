import type { Subscription } from './event-log';

/** Tracks the open subscriptions of a log, which end with it. */
export class OpenSubscriptions {
  private readonly open = new Set<Subscription>();

  /** Adds a subscription. Returns it for its owner: stopping it removes it here. */
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

  /** Stops them all. Resolves when the pages in progress are handled. */
  async stop(): Promise<void> {
    const open = [...this.open];
    this.open.clear();
    await Promise.all(open.map((subscription) => subscription.stop()));
  }
}
