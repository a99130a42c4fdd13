import { Readable } from 'node:stream';
import { type Keyring, Semaphore, Unavailable } from '@app/kernel';
import type { S3 } from '@aws-sdk/client-s3';
import type { Upload } from '@aws-sdk/lib-storage';
import {
  type BlobGroup,
  type BlobName,
  type Blobs,
  byPlace,
  isBlobName,
  newBlobName,
  type OpenBody,
  type PutArguments,
  type PutBody,
} from '../blobs';
import type { StoredBytes } from '../blob-cipher';
import { openBody, storeBody, wholeBody } from '../encrypted-body';
import { prepareBucket } from './s3-bucket';
import { s3AddressOf } from './s3-address';
import { isMissing, unavailable } from './s3-errors';

export interface S3BlobsOptions {
  /** `http(s)://KEY:SECRET@HOST/BUCKET?region=...` (`S3_URL`). */
  readonly url: string;
  /** Whose keys encrypt the bodies. */
  readonly vault: Keyring;
}

const ATTEMPTS = 3;
const CONNECT_MS = 1_000;
/** Until the answer begins; a part of an upload must arrive within it. */
const ANSWER_MS = 30_000;
/** A connection on which nothing moves for so long is given up. */
const SILENCE_MS = 10_000;
const HEALTH_MS = 1_500;
/** Most objects that one request lists or removes. */
const PAGE = 1_000;
/** Objects that are asked for one by one in the time in which a page is listed, about. */
const WORTH_A_PAGE = 16;
const LOOKED_AT_ONCE = 32;
/** Bytes asked for at once: a connection to the server never waits for a slow reader. */
const STRIDE = 1024 * 1024;
/** Parts of one body on their way at the same time, 5 MiB each. */
const PARTS_AT_ONCE = 2;

/** Opens the bucket, which is made when it is missing: one object for each body, by its name. Throws `Unavailable`. */
export const openS3Blobs = async ({ url, vault }: S3BlobsOptions): Promise<Blobs> => {
  const { bucket, ...server } = s3AddressOf(url);
  const [{ S3 }, { Upload }] = await Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')]);
  const s3 = new S3({
    ...server,
    forcePathStyle: true,
    maxAttempts: ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: ANSWER_MS,
      socketTimeout: SILENCE_MS,
      throwOnRequestTimeout: true,
    },
    // Every frame of a body carries its own proof; servers that are no Amazon's reject checksums they do not know.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  await prepareBucket(s3, bucket);
  return new S3Blobs(s3, Upload, bucket, vault);
};

class S3Blobs implements Blobs {
  constructor(
    private readonly s3: S3,
    private readonly Uploading: typeof Upload,
    private readonly bucket: string,
    private readonly vault: Keyring,
  ) {}

  put(...given: PutArguments): Promise<PutBody> {
    return this.putBeside(given);
  }

  /** An object is durable once its request is answered. */
  group(): BlobGroup {
    const beside = newBlobName();
    return { put: (...given) => this.putBeside(given, beside), durable: async () => undefined };
  }

  private putBeside([stream, body, owner]: PutArguments, beside?: BlobName): Promise<PutBody> {
    return storeBody(this.vault, stream, body, owner, (name, pieces) => this.write(name, pieces), beside);
  }

  open(stream: string, name: BlobName): Promise<OpenBody | undefined> {
    return openBody(this.vault, stream, name, (stored) => this.find(stored));
  }

  async get(stream: string, name: BlobName): Promise<Buffer | undefined> {
    return wholeBody(await this.open(stream, name));
  }

  async remove(names: readonly BlobName[]): Promise<void> {
    const known = names.filter(isBlobName);
    for (let start = 0; start < known.length; start += PAGE) {
      const Objects = known.slice(start, start + PAGE).map((Key) => ({ Key }));
      const { Errors = [] } = await this.s3
        .deleteObjects({ Bucket: this.bucket, Delete: { Objects, Quiet: true } })
        .catch(rethrow);
      if (Errors.length > 0)
        throw new Unavailable('blobs', `the S3 server kept ${Errors.length} bodies: ${Errors[0]?.Code}`);
    }
  }

  async list(after: BlobName | null, limit: number): Promise<readonly BlobName[]> {
    const found: BlobName[] = [];
    for (let last = after ?? '', more = true; more && found.length < limit;) {
      const { Contents = [], IsTruncated = false } = await this.s3
        .listObjectsV2({ Bucket: this.bucket, StartAfter: last, MaxKeys: Math.min(PAGE, limit - found.length) })
        .catch(rethrow);
      const keys = Contents.flatMap(({ Key }) => Key ?? []);
      found.push(...keys.filter(isBlobName));
      last = keys.at(-1) ?? last;
      more = IsTruncated;
    }
    return found;
  }

  async haveAll(names: readonly BlobName[]): Promise<boolean> {
    const looking = new Semaphore(LOOKED_AT_ONCE);
    for (const [place, inPlace] of byPlace(names)) {
      const unlisted = await this.unlisted(place, inPlace);
      if (unlisted === undefined) return false;
      const stored = await Promise.all(unlisted.map((name) => looking.run(() => this.storedAt(name))));
      if (stored.includes(undefined)) return false;
    }
    return true;
  }

  /** Those behind the end of what few pages list of a place; undefined where one before it is not there. */
  private async unlisted(place: string, names: readonly BlobName[]): Promise<readonly BlobName[] | undefined> {
    if (!names.every(isBlobName)) return undefined;
    let left = names.toSorted();
    for (let pages = Math.floor(names.length / WORTH_A_PAGE); pages > 0 && left.length > 0; pages -= 1) {
      // Sorts right before the first.
      const StartAfter = left[0]?.slice(0, -1);
      const { Contents = [], IsTruncated = false } = await this.s3
        .listObjectsV2({ Bucket: this.bucket, Prefix: place, StartAfter, MaxKeys: PAGE })
        .catch(rethrow);
      const found = new Set(Contents.map(({ Key }) => Key));
      const last = Contents.at(-1)?.Key ?? '';
      const passed = IsTruncated ? left.filter((name) => name <= last) : left;
      if (!passed.every((name) => found.has(name))) return undefined;
      left = left.slice(passed.length);
    }
    return left;
  }

  async storedAt(name: BlobName): Promise<Date | undefined> {
    if (!isBlobName(name)) return undefined;
    const head = await this.s3
      .headObject({ Bucket: this.bucket, Key: name })
      .catch((error: unknown) => (isMissing(error) ? undefined : rethrow(error)));
    return head?.LastModified;
  }

  async readStored(name: BlobName): Promise<Buffer | undefined> {
    return isBlobName(name) ? (await this.read(name))?.bytes : undefined;
  }

  async writeStored(name: BlobName, stored: Buffer): Promise<void> {
    if (!isBlobName(name)) throw new Error(`${name} is not a blob name`);
    await this.write(name, [stored]);
  }

  async health(): Promise<{ ok: boolean; reason?: string }> {
    try {
      await this.s3.headBucket({ Bucket: this.bucket }, { abortSignal: AbortSignal.timeout(HEALTH_MS) });
      return { ok: true };
    } catch (error) {
      return { ok: false, reason: unavailable(error).reason };
    }
  }

  private async find(name: BlobName): Promise<StoredBytes | undefined> {
    const first = isBlobName(name) ? await this.read(name, 0, STRIDE) : undefined;
    if (first === undefined) return undefined;
    const read = async (start: number, end: number): Promise<Buffer> =>
      end <= first.bytes.length
        ? first.bytes.subarray(start, end)
        : ((await this.read(name, start, end))?.bytes ?? Buffer.alloc(0));
    return { size: first.size, stride: STRIDE, read };
  }

  /** An object, or the part from a byte up to another, and the size of the whole. Retries head and body together: the body may break off, and the SDK retries only until the head arrives. */
  private async read(
    name: BlobName,
    start?: number,
    end = 0,
  ): Promise<{ readonly bytes: Buffer; readonly size: number } | undefined> {
    const range = start === undefined ? {} : { Range: `bytes=${start}-${end - 1}` };
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { Body, ContentLength, ContentRange } = await this.s3.getObject({
          Bucket: this.bucket,
          Key: name,
          ...range,
        });
        const bytes = Buffer.from((await Body?.transformToByteArray()) ?? []);
        if (bytes.length !== ContentLength) throw new Error('the answer broke off');
        return { bytes, size: Number(ContentRange?.split('/')[1] ?? bytes.length) };
      } catch (error) {
        if (isMissing(error)) return undefined;
        // Nothing begins where an empty object ends.
        if ((error as Error).name === 'InvalidRange') return { bytes: Buffer.alloc(0), size: 0 };
        if (attempt === ATTEMPTS) throw unavailable(error);
      }
    }
  }

  /** One request for a small body, parts of 5 MiB for a larger one; parts of a body that breaks off are removed. */
  private async write(name: BlobName, pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> {
    let broken: { readonly error: unknown } | undefined;
    const watched = async function* (): AsyncGenerator<Buffer> {
      // An upload that fails ends its body with an error too, where a piece was handed over.
      let isReading = true;
      try {
        for await (const piece of pieces) {
          isReading = false;
          yield piece;
          isReading = true;
        }
      } catch (error) {
        if (isReading) broken = { error };
        throw error;
      }
    };
    try {
      await new this.Uploading({
        client: this.s3,
        params: { Bucket: this.bucket, Key: name, Body: Readable.from(watched()) },
        queueSize: PARTS_AT_ONCE,
      }).done();
    } catch (error) {
      throw broken === undefined ? unavailable(error) : broken.error;
    }
  }
}

const rethrow = (error: unknown): never => {
  throw unavailable(error);
};
