import type { Clock, Logger, Position } from '@app/kernel';
import type { ProjectingEvents } from '../events';

/** The head moved on and the view did not for this long: an alarm, also where the lag is small. */
const STALLED_MS = 30_000;

interface Seen {
  readonly position: Position | null;
  readonly since: number;
  readonly stalled: boolean;
}

/** Notices views that stand still while the log moves; says so once, and once more when they move again. */
export class StallWatch {
  private readonly seen = new Map<string, Seen>();

  constructor(
    private readonly clock: Clock,
    private readonly events: ProjectingEvents,
    private readonly logger: Logger,
  ) {}

  check(view: string, position: Position | null, head: Position | null): void {
    const now = this.clock.now().getTime();
    const before = this.seen.get(view);
    const behind = head !== null && (position === null || position < head);
    if (before === undefined || before.position !== position || !behind) {
      this.seen.set(view, { position, since: now, stalled: false });
      if (before?.stalled === true) this.events.emit('recovered', { view });
    } else if (!before.stalled && now - before.since >= STALLED_MS) {
      this.seen.set(view, { ...before, stalled: true });
      this.logger.error({ view, position, head }, 'View is stuck while the log moves on.');
      this.events.emit('stalled', { view, position, head });
    }
  }

  isStalled(view: string): boolean {
    return this.seen.get(view)?.stalled ?? false;
  }
}
