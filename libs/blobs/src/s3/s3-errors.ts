import { AccessDenied, Unavailable } from '@app/kernel';

interface ServiceFault extends Error {
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** True for the answer that an object, or with `HeadBucket` the bucket, is not there. An object without its bucket is not known to be gone. */
export const isMissing = (error: unknown): boolean => ['NoSuchKey', 'NotFound'].includes((error as Error).name);

/** What stands in for any failure of the server or the way to it: its code alone, since messages may quote keys. */
export const unavailable = (error: unknown): Unavailable => {
  const { name, code, $metadata } = error as ServiceFault;
  const status = $metadata?.httpStatusCode;
  const Kind = status === 401 || status === 403 ? AccessDenied : Unavailable;
  return new Kind(
    'blobs',
    `the S3 server did not serve: ${code ?? name}${status === undefined ? '' : ` (${status})`}`,
    'none',
    { cause: error },
  );
};
