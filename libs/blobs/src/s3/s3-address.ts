import { InvalidConfig } from '@app/kernel';

/** Where a bucket is. Without credentials the SDK looks for them as it does everywhere: environment, profile, role of the machine. */
export interface S3Address {
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

const DEFAULT_REGION = 'us-east-1';

/** Reads `http(s)://KEY:SECRET@HOST/BUCKET?region=...`; reserved characters of key and secret are percent-encoded. Throws `InvalidConfig`. */
export const s3AddressOf = (text: string): S3Address => {
  const url = new URL(text);
  const [, bucket = '', ...rest] = url.pathname.split('/');
  if (!/^https?:$/.test(url.protocol) || bucket === '' || rest.some((part) => part !== ''))
    throw new InvalidConfig('S3_URL must be http(s)://KEY:SECRET@HOST/BUCKET?region=...');
  if ((url.username === '') !== (url.password === ''))
    throw new InvalidConfig('S3_URL must hold both a key and its secret, or neither.');
  return {
    endpoint: url.origin,
    bucket,
    region: url.searchParams.get('region') ?? DEFAULT_REGION,
    ...(url.username === ''
      ? {}
      : {
          credentials: {
            accessKeyId: decodeURIComponent(url.username),
            secretAccessKey: decodeURIComponent(url.password),
          },
        }),
  };
};
