import type { ListMultipartUploadsCommandOutput, S3 } from '@aws-sdk/client-s3';
import { isMissing, unavailable } from './s3-errors';

/** Parts of an upload that was interrupted by a crash are swept when they are this old; younger ones may be under way in another process. */
const UNFINISHED_KEPT_MS = 24 * 60 * 60 * 1000;

/** Makes the bucket when it is missing, and sweeps what a crash left unfinished. Throws `Unavailable`. */
export const prepareBucket = async (s3: S3, bucket: string): Promise<void> => {
  try {
    await ensureBucket(s3, bucket);
    await sweepUnfinished(s3, bucket);
  } catch (error) {
    throw unavailable(error);
  }
};

const ensureBucket = async (s3: S3, Bucket: string): Promise<void> => {
  try {
    await s3.headBucket({ Bucket });
  } catch (error) {
    if (!isMissing(error)) throw error;
    await s3.createBucket({ Bucket }).catch(unlessOurs);
  }
};

/** Another process that starts at the same time may make it first. */
const unlessOurs = (error: Error): void => {
  if (error.name !== 'BucketAlreadyOwnedByYou') throw error;
};

const sweepUnfinished = async (s3: S3, Bucket: string): Promise<void> => {
  for (
    let from: { readonly KeyMarker?: string; readonly UploadIdMarker?: string } | undefined = {};
    from !== undefined;
  ) {
    const {
      Uploads = [],
      IsTruncated,
      NextKeyMarker,
      NextUploadIdMarker,
    }: ListMultipartUploadsCommandOutput = await s3.listMultipartUploads({ Bucket, ...from });
    for (const { Key, UploadId, Initiated } of Uploads) {
      if (Initiated !== undefined && Date.now() - Initiated.getTime() > UNFINISHED_KEPT_MS)
        await s3.abortMultipartUpload({ Bucket, Key, UploadId }).catch(unlessSwept);
    }
    from =
      IsTruncated === true && NextKeyMarker !== undefined
        ? {
            KeyMarker: NextKeyMarker,
            ...(NextUploadIdMarker === undefined ? {} : { UploadIdMarker: NextUploadIdMarker }),
          }
        : undefined;
  }
};

/** Another process that starts at the same time may be faster. */
const unlessSwept = (error: Error): void => {
  if (error.name !== 'NoSuchUpload') throw error;
};
