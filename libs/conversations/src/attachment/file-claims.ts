import { setTimeout as pause } from 'node:timers/promises';
import { Claims, type Release } from '@app/coordination';
import { Unavailable } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';

/** How long is waited for whoever else has a file in hand, and how often it is looked, milliseconds. */
const MOST_WAIT_MS = 5_000;
const LOOK_MS = 20;

/** Holds files while a question that names them is recorded, or while they are deleted since none names them: one comes before the other, in any process. */
@Injectable()
export class FileClaims {
  constructor(@Inject(Claims) private readonly claims: Pick<Claims, 'take'>) {}

  /** Throws `Unavailable` where another holds one of them for too long. */
  async holding<T>(fileIds: readonly string[], work: () => Promise<T>): Promise<T> {
    const held: Release[] = [];
    try {
      // In one order, so that no two wait for each other.
      for (const fileId of [...new Set(fileIds)].toSorted()) held.push(await this.take(fileId));
      return await work();
    } finally {
      await Promise.all(held.map((release) => release()));
    }
  }

  private async take(fileId: string): Promise<Release> {
    for (const ends = performance.now() + MOST_WAIT_MS; performance.now() < ends;) {
      const release = await this.claims.take(`attachment/${fileId}`);
      if (release !== undefined) return release;
      await pause(LOOK_MS);
    }
    throw new Unavailable('attachments', `the file ${fileId} is in use by another request`);
  }
}
