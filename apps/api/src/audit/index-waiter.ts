import { EVENT_LOG, type EventLog } from '@app/event-log';
import { VIEW_WAIT_MS } from '@app/http';
import { Projecting } from '@app/projecting';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** An auditor who asks is shown what was recorded until then, or told that it may be missing. */
@Injectable()
export class IndexWaiter {
  constructor(
    @Inject(EVENT_LOG) private readonly log: EventLog,
    private readonly projecting: Projecting,
  ) {}

  /**
   * Waits, for a bounded time, until an index has reached the end of the log; sets `x-view-late` when it has not, or when events wait
   * behind a dead letter of it.
   */
  async wait(view: string, reply: FastifyReply): Promise<void> {
    const head = await this.log.head();
    if (head !== null && (await this.projecting.gap(view, head, VIEW_WAIT_MS))) reply.header('x-view-late', 'true');
  }
}
