import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ServerWritableStream } from '@grpc/grpc-js';
import { ReadResp, type ReadReq } from '@eventstore/db-client/generated/streams_pb';
import type { Feed } from './feeds';
import { encoded } from './recorded-event';
import { drained, fail, type Serving } from './serving';
import { consumerTooSlow, type Failure, unavailable } from './statuses';

/** Events that the server keeps for a listener at the head; one that is further behind is no longer live. */
const LIVE_BUFFER = 64;

/** How often a stalled subscription looks whether it still is. */
const STALL_LOOK_MS = 20;

const CAUGHT_UP = encoded(new ReadResp().setCaughtUp(new ReadResp.CaughtUp()));

export const confirm = (call: ServerWritableStream<ReadReq, Buffer>): void =>
  void call.write(
    encoded(new ReadResp().setConfirmation(new ReadResp.SubscriptionConfirmation().setSubscriptionId(randomUUID()))),
  );

/**
 * Serves one subscription: confirms it, hands over what is there, says that it caught up, goes on with what is written.
 * A listener that falls too far behind at the head is dropped by version 23; version 24 lets it catch up and says so again.
 */
export const follow = async (
  { log: { shown }, faults, version, listeners }: Serving,
  call: ServerWritableStream<ReadReq, Buffer>,
  feed: Feed,
  saysCaughtUp: () => boolean,
): Promise<void> => {
  confirm(call);
  const state = { isOpen: true, isLive: false, wake: (): void => undefined };
  const onWrite = (): void => state.wake();
  const drop = (failure?: Failure): void => {
    if (!state.isOpen) return;
    state.isOpen = false;
    shown.watchers.delete(onWrite);
    listeners.delete(drop);
    state.wake();
    if (failure !== undefined) fail(call, failure);
  };
  shown.watchers.add(onWrite);
  listeners.add(drop);
  call.on('close', () => drop());
  call.on('cancelled', () => drop());

  while (state.isOpen) {
    if (faults.isUnavailable) return drop(unavailable);
    if (faults.stallSubscriptions || faults.isSilent) {
      await pause(STALL_LOOK_MS);
      continue;
    }
    const message = feed.next();
    if (message === undefined) {
      if (!state.isLive && saysCaughtUp()) {
        state.isLive = true;
        for (let times = 0; times < faults.caughtUps; times += 1) call.write(CAUGHT_UP);
      }
      await new Promise<void>((resolve) => (state.wake = resolve));
      continue;
    }
    const isSlow = !call.write(message);
    if (isSlow) await drained(call);
    const ending = feed.ending();
    if (ending !== undefined) return drop(ending);
    if (!state.isLive || !isSlow || feed.behind() <= LIVE_BUFFER) continue;
    if (version === '23.10.6') return drop(consumerTooSlow);
    state.isLive = false;
  }
};
