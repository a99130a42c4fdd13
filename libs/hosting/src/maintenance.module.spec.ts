import type { Position } from '@app/kernel';
import { followersOf } from './maintenance.module';

const HEAD = '7' as Position;

/** The followers of a process, and what they ask of the log once they are started. */
const started = (alone: boolean) => {
  const subscribed: [string, Position | null][] = [];
  const followers = followersOf({
    log: {
      subscribe: ({ name, after }) => {
        subscribed.push([name, after]);
        return { position: after, caughtUp: true, stop: async () => void subscribed.pop() };
      },
    },
    models: { reload: () => undefined },
    decisions: { forget: () => undefined },
    processes: { alone },
    keys: { head: HEAD },
    logger: { warn: () => undefined },
  });
  for (const follower of followers) follower.start();
  return { followers, subscribed };
};

it('has what processes do together follow the log from where it stood at the start', async () => {
  const { followers, subscribed } = started(false);
  expect(subscribed).toEqual([
    ['catalogue-reloads', HEAD],
    ['forget-erased', HEAD],
  ]);
  for (const follower of followers) await follower.stop();
  expect(subscribed).toEqual([]);
});

it('follows nothing in a process that is alone', () => expect(started(true).subscribed).toEqual([]));
