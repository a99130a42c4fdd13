import type { Readable, Writable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Admission } from './admission';
import { EventLines } from './event-stream';

/** Check the callers of open streams this often. A revoked key reads no longer than this. */
const CHECK_MS = 2_000;

/** Tracks the answers that are being streamed. */
@Injectable()
export class OpenStreams {
  private readonly followed = new Set<EventLines>();
  private readonly watched = new WeakSet<Readable | Writable>();

  constructor(private readonly admission: Admission) {}

  /**
   * Watches a stream. When its caller is no longer admitted, calls `end`, which may say why: streams of events have an end of their own, and all others
   * (files) are broken off, so that nobody takes a part for the whole. Breaks off a stream that is still open at the next check. A stream that is watched
   * already keeps the end it has.
   */
  add(stream: Readable | Writable, request: FastifyRequest, end = endOf(stream)): void {
    if (this.watched.has(stream)) return;
    this.watched.add(stream);
    let told = end === undefined;
    const rejected = (reason: unknown): void => {
      if (told) stream.destroy();
      else end?.(reason);
      told = true;
    };
    const check = setInterval(() => void this.admission.admittedStill(request).catch(rejected), CHECK_MS).unref();
    if (request.method === 'GET' && stream instanceof EventLines) this.followed.add(stream);
    stream.once('close', () => {
      clearInterval(check);
      this.followed.delete(stream as EventLines);
    });
  }

  /** Ends the streams that readers follow. They reconnect to another process. */
  endFollowed(): void {
    for (const stream of this.followed) stream.end();
  }
}

const endOf = (stream: Readable | Writable): ((reason: unknown) => void) | undefined =>
  stream instanceof EventLines ? (reason) => stream.rejected(reason) : undefined;
