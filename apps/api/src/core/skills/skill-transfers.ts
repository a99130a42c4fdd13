import type { Caller } from '@app/access';
import { FairSemaphore, reject } from '@app/kernel';
import { SkillLimit, type StoredUpload, StoredUploads } from '@app/skills';
import { Inject, Injectable } from '@nestjs/common';
import { type MostBytes, PACKING_BYTES, type ReceivedFile, type SentFile, type TakeBody } from './sent-skill';

/** How many of the largest uploads may be in memory at once. */
const LARGEST_AT_ONCE = 4;
/** Smaller bodies wait for nobody: as many as there are connections take no more than other requests. */
const SMALL_BYTES = 1024 ** 2;
/** Of the largest upload: smaller ones are in memory as they come where there is room for it, since to store one first takes a quarter of the time of an import. Otherwise nobody waits for that room. */
const HELD_PART = 1 / 6;
/** Archives that are read and stored at once, and those that are packed: each holds all files of a version. */
const AT_ONCE = 2;

/** Bounds what Skills take in memory on their way in and out, for all and for each user: one with many uploads keeps others from none. */
@Injectable()
export class SkillTransfers {
  private readonly bodies: FairSemaphore;
  private readonly coming: FairSemaphore;
  private readonly reading = new FairSemaphore(AT_ONCE, 1);
  private readonly packing = new FairSemaphore(AT_ONCE, 1);

  constructor(
    private readonly limit: SkillLimit,
    @Inject(StoredUploads) private readonly uploads: Pick<StoredUploads, 'store' | 'read' | 'remove'>,
  ) {
    this.bodies = new FairSemaphore(LARGEST_AT_ONCE * this.most.bytes, this.most.bytes);
    this.coming = new FairSemaphore(LARGEST_AT_ONCE * this.mostHeld, this.mostHeld);
  }

  /** Of an upload of a whole Skill. */
  get most(): MostBytes {
    return { bytes: this.limit.ofVersion.bytes + PACKING_BYTES, reason: 'skill_bytes' };
  }

  private get mostHeld(): number {
    return this.most.bytes * HELD_PART;
  }

  /**
   * Reads a request by `read`, which gives its file to `take`, and works on it by `use`. A large file is stored as it comes, and
   * is in memory no sooner than it is whole and there is room: who sends slowly keeps nobody waiting.
   */
  async receive<Sent extends { readonly file: ReceivedFile }, T>(
    { userId }: Caller,
    read: (take: TakeBody) => Promise<Sent>,
    use: (sent: Omit<Sent, 'file'> & { readonly file: SentFile }) => Promise<T>,
  ): Promise<T> {
    const stored: StoredUpload[] = [];
    const held: (() => void)[] = [];
    const take: TakeBody = async (body, most) => {
      const taken = await this.take(bounded(body, most), userId, held);
      if (!Buffer.isBuffer(taken)) stored.push(taken);
      return taken;
    };
    try {
      const sent = await read(take);
      const { filename, body } = sent.file;
      if (Buffer.isBuffer(body)) return await use({ ...sent, file: { filename, bytes: body } });
      return await this.bodies.run(userId, body.size, async () => {
        const bytes = (await this.uploads.read(body)) ?? reject('not_found', { kind: 'user', id: userId });
        return use({ ...sent, file: { filename, bytes } });
      });
    } finally {
      for (const give of held) give();
      for (const each of stored) await this.uploads.remove(each);
    }
  }

  /** Does work that reads the files of an archive and stores them: it may inflate to far more than was sent. */
  read<T>({ userId }: Caller, work: () => Promise<T>): Promise<T> {
    return this.reading.run(userId, 1, work);
  }

  /** Does work that packs an archive. */
  pack<T>({ userId }: Caller, work: () => Promise<T>): Promise<T> {
    return this.packing.run(userId, 1, work);
  }

  /** `held`: what returns the room that a body in memory takes. */
  private async take(body: AsyncGenerator<Buffer>, userId: string, held: (() => void)[]) {
    const first: Buffer[] = [];
    let bytes = 0;
    for (let next = await body.next(); next.done !== true; next = await body.next()) {
      first.push(next.value);
      bytes += next.value.length;
      if (bytes <= SMALL_BYTES) continue;
      const give = held.pop() ?? this.coming.tryAcquire(userId, this.mostHeld);
      if (give !== undefined && bytes <= this.mostHeld) held.push(give);
      else {
        give?.();
        return this.uploads.store(userId, joined(first, body));
      }
    }
    return Buffer.concat(first);
  }
}

/** Rejects `too_large` behind so many bytes. */
async function* bounded(body: AsyncIterable<Buffer>, { bytes: limit, reason }: MostBytes): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > limit) reject('too_large', { reason, bytes, limit });
    yield piece;
  }
}

/** Keeps nothing of what was taken. */
async function* joined(first: Buffer[], rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for (let piece = first.shift(); piece !== undefined; piece = first.shift()) yield piece;
  yield* rest;
}
