import { open } from 'node:fs/promises';

/** Brings a file's bytes, or a folder's names, to the disk: without it a rename may be lost with the power. */
export const syncToDisk = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};
