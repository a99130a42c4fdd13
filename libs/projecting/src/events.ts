import { EventEmitter } from 'node:events';
import type { Position } from '@app/kernel';
import type { DeadLetter } from './dead-letter';

/** What happens in here, for metrics and alarms. */
export interface ProjectingEventMap {
  /** A page was written. */
  handled: [
    { readonly view: string; readonly version: number; readonly events: number; readonly milliseconds: number },
  ];
  /** A policy reacted to a page. */
  reacted: [{ readonly policy: string; readonly events: number; readonly milliseconds: number }];
  /** An event became a dead letter. */
  deadLettered: [DeadLetter];
  /** A page could not be written and will be tried again. */
  failed: [{ readonly view: string; readonly version: number; readonly error: unknown }];
  /** The log moves and the view does not. */
  stalled: [{ readonly view: string; readonly position: Position | null; readonly head: Position }];
  /** A stalled view moves again. */
  recovered: [{ readonly view: string }];
  /** A rebuild came to another state. */
  rebuild: [{ readonly view: string; readonly version: number; readonly state: string }];
}

/** What views and policies do, for metrics and log lines. */
export class ProjectingEvents extends EventEmitter<ProjectingEventMap> {}
