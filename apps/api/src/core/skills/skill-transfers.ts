import type { Caller } from '@app/access';
import { Room } from '@app/kernel';
import { SkillLimit } from '@app/skills';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { PACKING_BYTES } from './sent-skill';

/** How many of the largest uploads may be in memory at once. */
const LARGEST_AT_ONCE = 4;
/** Smaller bodies wait for nobody: as many as there are connections take no more than other requests. */
const SMALL_BYTES = 1024 ** 2;
/** Archives that are read and stored at once, and those that are packed: each holds all files of a version. */
const AT_ONCE = 2;

/** Bounds what Skills take in memory on their way in and out, for all and for each user: one with many uploads keeps others from none. */
@Injectable()
export class SkillTransfers {
  private readonly bodies: Room;
  private readonly reading = new Room(AT_ONCE, 1);
  private readonly packing = new Room(AT_ONCE, 1);

  constructor(private readonly limit: SkillLimit) {
    this.bodies = new Room(LARGEST_AT_ONCE * this.mostBytes, this.mostBytes);
  }

  /** Most bytes of an upload. */
  get mostBytes(): number {
    return this.limit.ofVersion.bytes + PACKING_BYTES;
  }

  /** Does work that reads a body and holds it to its end. A body that must wait is not read until then. */
  receive<T>({ userId }: Caller, { headers }: FastifyRequest, work: () => Promise<T>): Promise<T> {
    const bytes = Number(headers['content-length'] ?? this.mostBytes);
    return bytes <= SMALL_BYTES ? work() : this.bodies.run(userId, bytes, work);
  }

  /** Does work that reads the files of an archive and stores them: it may inflate to far more than was sent. */
  read<T>({ userId }: Caller, work: () => Promise<T>): Promise<T> {
    return this.reading.run(userId, 1, work);
  }

  /** Does work that packs an archive. */
  pack<T>({ userId }: Caller, work: () => Promise<T>): Promise<T> {
    return this.packing.run(userId, 1, work);
  }
}
