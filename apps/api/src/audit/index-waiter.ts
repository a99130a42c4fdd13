import { EVENT_LOG, type EventLog } from '@app/event-log';
import { VIEW_WAIT_MS, VIEW_WAITER, type ViewWaiter } from '@app/http';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

/** An auditor who asks is shown what was recorded until then, or told that it may be missing. */
@Injectable()
export class IndexWaiter {
  constructor(
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(VIEW_WAITER) private readonly views: ViewWaiter,
  ) {}

  /** Waits, for a bounded time, until an index has reached the end of the log; sets `x-view-late` when it has not. */
  async wait(view: string, reply: FastifyReply): Promise<void> {
    const head = await this.log.head();
    if (head !== null && !(await this.views.waitFor(view, head, VIEW_WAIT_MS))) reply.header('x-view-late', 'true');
  }
}
