import type { BlobName } from '@app/blobs';
import { type Aggregates, dataKeyOf, dataKeyPlace, type StreamReader } from '@app/kernel';

/** Finds what the events under a data key ever named: those of a stream, or of one entity in it. Names are not encrypted: nothing is decoded. */
export const blobsUnder =
  (log: StreamReader, aggregates: Pick<Aggregates, 'holdBlobs' | 'blobsIn'>) =>
  async (key: string): Promise<readonly BlobName[]> => {
    if (!aggregates.holdBlobs(key)) return [];
    const { stream, entity } = dataKeyPlace(key);
    const events = (await log.readStream(stream)).filter((event) => entity === undefined || dataKeyOf(event) === key);
    const named = events.map(({ type, data }) =>
      aggregates.blobsIn({ type, data: JSON.parse(data) as Record<string, unknown> }),
    );
    return [...new Set(named.flatMap(({ held, released }) => [...held, ...released]))];
  };
