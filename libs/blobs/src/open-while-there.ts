import type { BlobName, Blobs, OpenBody } from './blobs';

/**
 * Opens a body for an answer that may be read slowly. Calls `gone`, which throws, where it is gone, also while it is read: a deletion
 * looks like damage from here on, and is none.
 */
export const openWhileThere = async (
  blobs: Pick<Blobs, 'open'>,
  stream: string,
  name: BlobName,
  gone: () => never,
): Promise<OpenBody> => {
  const { size, pieces } = (await blobs.open(stream, name)) ?? gone();
  async function* whileThere(): AsyncGenerator<Buffer> {
    try {
      yield* pieces;
    } catch (error) {
      if ((await blobs.open(stream, name)) === undefined) gone();
      throw error;
    }
  }
  return { size, pieces: whileThere() };
};
