import { READ_STORE, type ReadStore } from '@app/read-store';
import type { TestPlatform } from './harness';

/** Keeps some views from what comes until it is told to release them, or `asks` is done. */
export const whileHeld = async <T>(
  { app }: TestPlatform['platform'],
  views: readonly string[],
  asks: (release: () => void) => Promise<T>,
): Promise<T> => {
  const store = app.get<ReadStore>(READ_STORE);
  const commit = store.commit.bind(store);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const held = jest.spyOn(store, 'commit').mockImplementation(async (batch) => {
    if (views.includes(batch.view)) await released;
    return commit(batch);
  });
  try {
    return await asks(release);
  } finally {
    release();
    held.mockRestore();
  }
};
