import type { S3 } from '@aws-sdk/client-s3';
import { prepareBucket } from './s3-bucket';

const HOUR_MS = 60 * 60 * 1_000;

/** A server that lists two unfinished uploads at a time; another process has ended one of them already. */
const serverWith = (uploads: readonly { readonly Key: string; readonly hours: number }[], ended: string) => {
  const aborted: string[] = [];
  const s3 = {
    headBucket: async () => ({}),
    listMultipartUploads: async ({ KeyMarker = '' }: { readonly KeyMarker?: string }) => {
      const left = uploads.filter(({ Key }) => Key > KeyMarker);
      const Uploads = left
        .slice(0, 2)
        .map(({ Key, hours }) => ({ Key, UploadId: `of ${Key}`, Initiated: new Date(Date.now() - hours * HOUR_MS) }));
      return {
        Uploads,
        IsTruncated: left.length > 2,
        NextKeyMarker: Uploads.at(-1)?.Key,
        NextUploadIdMarker: Uploads.at(-1)?.UploadId,
      };
    },
    abortMultipartUpload: async ({ Key = '' }: { readonly Key?: string }) => {
      if (Key === ended) throw Object.assign(new Error(), { name: 'NoSuchUpload' });
      aborted.push(Key);
    },
  };
  // The calls that the preparation makes.
  return { s3: s3 as unknown as S3, aborted };
};

test('Uploads that a crash left unfinished are swept, also behind many young ones, and beside another process that sweeps', async () => {
  const { s3, aborted } = serverWith(
    [
      { Key: 'a', hours: 1 },
      { Key: 'b', hours: 2 },
      { Key: 'c', hours: 30 },
      { Key: 'd', hours: 25 },
      { Key: 'e', hours: 48 },
    ],
    'c',
  );
  await prepareBucket(s3, 'files');
  expect(aborted).toEqual(['d', 'e']);
});
