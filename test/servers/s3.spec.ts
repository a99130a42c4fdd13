import { randomBytes, randomUUID } from 'node:crypto';
import { carryBlobs } from '@app/backup';
import { type Blobs, openS3Blobs } from '@app/blobs';
import { S3 } from '@aws-sdk/client-s3';
import { blobsContract, MemoryKeyring } from '../../libs/blobs/src/blobs.contract';
import { s3AddressOf } from '../../libs/blobs/src/s3/s3-address';
import { ownTime } from '../fixtures/own-time';
import { TcpProxy } from '../fixtures/tcp-proxy';
import { withServer } from './with-server';

const MEBIBYTE = 1 << 20;

withServer('S3_URL', 'Blobs on S3', (server) => {
  const used: string[] = [];
  /** A bucket of its own that is not there yet. */
  const newBucket = (): string => {
    const url = new URL(server);
    url.pathname = `/test-${randomUUID()}`;
    used.push(url.href);
    return url.href;
  };
  const clientOf = (url: string) => {
    const { bucket: Bucket, ...address } = s3AddressOf(url);
    return { Bucket, s3: new S3({ ...address, forcePathStyle: true }) };
  };
  const removeAll = async (): Promise<void> => {
    for (const url of used.splice(0)) {
      const { Bucket, s3 } = clientOf(url);
      for (let more = true; more;) {
        const { Contents = [], IsTruncated = false } = await s3.listObjectsV2({ Bucket });
        for (const { Key } of Contents) await s3.deleteObject({ Bucket, Key });
        more = IsTruncated;
      }
      await s3.deleteBucket({ Bucket });
      s3.destroy();
    }
  };

  describe('the contract', () => {
    blobsContract(async () => {
      const keyring = new MemoryKeyring();
      const url = newBucket();
      return {
        keyring,
        open: () => openS3Blobs({ url, vault: keyring }),
        openOther: () => openS3Blobs({ url: newBucket(), vault: keyring }),
        end: removeAll,
      };
    });
  });

  describe('the objects', () => {
    let url: string;
    let blobs: Blobs;
    let store: ReturnType<typeof clientOf>;
    const stored = async (Key: string): Promise<Buffer> =>
      Buffer.from((await (await store.s3.getObject({ Bucket: store.Bucket, Key })).Body?.transformToByteArray()) ?? []);

    beforeEach(async () => {
      url = newBucket();
      store = clientOf(url);
      blobs = await openS3Blobs({ url, vault: new MemoryKeyring() });
    });
    afterEach(async () => {
      store.s3.destroy();
      await removeAll();
    });

    it('hold no plaintext', async () => {
      const { name } = await blobs.put('document-1', Buffer.from('a sentence that must not be found'), {});
      expect((await stored(name)).includes('sentence')).toBe(false);
    });

    it('are found damaged when cut, changed or exchanged', async () => {
      const first = await blobs.put('document-1', randomBytes(3 * 65_536), {});
      const second = await blobs.put('document-1', randomBytes(3 * 65_536), {});
      const whole = await stored(first.name);
      for (const Body of [
        whole.subarray(0, -1),
        Buffer.alloc(0),
        whole.with(70_000, (whole[70_000] as number) ^ 1),
        await stored(second.name),
      ]) {
        await store.s3.putObject({ Bucket: store.Bucket, Key: first.name, Body });
        await expect(blobs.get('document-1', first.name)).rejects.toMatchObject({
          name: 'BlobDamaged',
          blob: first.name,
        });
      }
    });

    it('of large bodies are uploaded in parts as they arrive', async () => {
      const pieces = Array.from({ length: 24 }, () => randomBytes(MEBIBYTE));
      const unfinished: number[] = [];
      const large = async function* () {
        for (const piece of pieces) {
          unfinished.push((await store.s3.listMultipartUploads({ Bucket: store.Bucket })).Uploads?.length ?? 0);
          yield piece;
        }
      };
      const { name, size } = await blobs.put('document-1', large(), {});
      expect(size).toBe(24 * MEBIBYTE);
      expect(Math.max(...unfinished)).toBe(1);
      expect((await blobs.get('document-1', name))?.equals(Buffer.concat(pieces))).toBe(true);
    });

    it('leave no part behind when a large body breaks off', async () => {
      const broken = async function* () {
        for (let piece = 0; piece < 14; piece += 1) yield randomBytes(MEBIBYTE);
        throw new Error('the client went away');
      };
      await expect(blobs.put('document-1', broken(), {})).rejects.toThrow('the client went away');
      expect((await store.s3.listMultipartUploads({ Bucket: store.Bucket })).Uploads ?? []).toEqual([]);
      expect(await blobs.list(null, 10)).toEqual([]);
    });

    it('are listed and removed by more than one request, whatever else is in the bucket', async () => {
      const names = Array.from({ length: 1_205 }, () => randomBytes(16).toString('hex'));
      await store.s3.putObject({ Bucket: store.Bucket, Key: '00-not-ours', Body: 'x' });
      for (let start = 0; start < names.length; start += 50)
        await Promise.all(names.slice(start, start + 50).map((name) => blobs.writeStored(name, Buffer.from('x'))));
      expect(await blobs.list(null, 5_000)).toEqual(names.toSorted());
      await blobs.remove(names);
      expect(await blobs.list(null, 10)).toEqual([]);
      await store.s3.headObject({ Bucket: store.Bucket, Key: '00-not-ours' });
    });

    it('are not taken for removed where their bucket is not there', async () => {
      const { name } = await blobs.put('thing', Buffer.from('body'), {});
      await store.s3.deleteObject({ Bucket: store.Bucket, Key: name });
      await store.s3.deleteBucket({ Bucket: store.Bucket });
      await expect(blobs.get('thing', name)).rejects.toMatchObject({ name: 'Unavailable', dependency: 'blobs' });
      await openS3Blobs({ url, vault: new MemoryKeyring() });
    });

    it('cannot be reached with a wrong secret, which no message tells', async () => {
      const wrong = new URL(url);
      wrong.password = 'a-wrong-secret';
      const error = (await openS3Blobs({ url: wrong.href, vault: new MemoryKeyring() }).catch(
        (rejection: unknown) => rejection,
      )) as Error;
      expect(error).toMatchObject({ name: 'Unavailable', dependency: 'blobs' });
      expect(error.message).not.toContain('a-wrong-secret');
    });
  });

  describe('a server that goes away', () => {
    let proxy: TcpProxy;
    let blobs: Blobs;

    beforeEach(async () => {
      proxy = await TcpProxy.start(Number(new URL(server).port));
      const url = new URL(newBucket());
      url.host = `127.0.0.1:${proxy.port}`;
      blobs = await openS3Blobs({ url: url.href, vault: new MemoryKeyring() });
    });
    afterEach(async () => {
      await proxy.close();
      await removeAll();
    });

    it('is said by health and by every call, in bounded time, and served again when it is back', async () => {
      const { name } = await blobs.put('document-1', Buffer.from('text'), {});
      proxy.stall('down');
      const took = ownTime();
      expect(await blobs.health()).toMatchObject({ ok: false, reason: expect.stringMatching(/S3/) as string });
      expect(took()).toBeLessThan(2_000);
      proxy.resume();
      await proxy.down();
      expect(await blobs.health()).toMatchObject({ ok: false, reason: expect.stringMatching(/S3/) as string });
      await expect(blobs.get('document-1', name)).rejects.toMatchObject({ name: 'Unavailable' });
      await expect(blobs.put('document-1', Buffer.from('more'), {})).rejects.toMatchObject({ name: 'Unavailable' });
      await expect(blobs.list(null, 10)).rejects.toMatchObject({ name: 'Unavailable' });
      await expect(blobs.remove([name])).rejects.toMatchObject({ name: 'Unavailable' });
      await proxy.up();
      expect(await blobs.health()).toEqual({ ok: true });
      expect((await blobs.get('document-1', name))?.toString()).toBe('text');
    });

    it('is waited for while bodies are carried to it and from it', async () => {
      const other = await openS3Blobs({ url: newBucket(), vault: new MemoryKeyring() });
      const names = await Promise.all(
        Array.from({ length: 40 }, async () => (await other.put('document-1', randomBytes(10_000), {})).name),
      );
      let waited = 0;
      const warn = (): void => {
        waited += 1;
        void proxy.up();
      };
      const breakingOff = (done: number): void => {
        if (done === 7) void proxy.down();
      };
      await proxy.down();
      expect(await carryBlobs(other, blobs, breakingOff, { warn })).toEqual({ blobs: 40, carried: 40 });
      const third = await openS3Blobs({ url: newBucket(), vault: new MemoryKeyring() });
      await proxy.down();
      expect(await carryBlobs(blobs, third, breakingOff, { warn })).toEqual({ blobs: 40, carried: 40 });
      for (const name of names) expect(await third.readStored(name)).toEqual(await other.readStored(name));
      expect(waited).toBeGreaterThanOrEqual(2);
    });

    it('is met again when an answer breaks off', async () => {
      const body = randomBytes(2 * MEBIBYTE);
      const { name } = await blobs.put('document-1', body, {});
      proxy.cut();
      proxy.breakNextAfter(500_000);
      expect((await blobs.get('document-1', name))?.equals(body)).toBe(true);
    });

    it('leaves a body that is uploaded then unfinished, never a part of it under a name', async () => {
      const large = async function* () {
        for (let piece = 0; piece < 16; piece += 1) {
          yield randomBytes(MEBIBYTE);
          if (piece === 12) await proxy.down();
        }
      };
      await expect(blobs.put('document-1', large(), {})).rejects.toMatchObject({ name: 'Unavailable' });
      await proxy.up();
      expect(await blobs.list(null, 10)).toEqual([]);
    });
  });
});
