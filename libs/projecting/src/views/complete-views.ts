import { type Position, Unavailable } from '@app/kernel';
import { pagesOf, READ_STORE, type ReadStore } from '@app/read-store';
import { Inject, Injectable } from '@nestjs/common';
import { Projecting } from '../projecting';

/** How long a view is waited for by what must miss nothing, and by what shows as much as there is, milliseconds. */
const VIEW_MS = 30_000;
const SHOWN_MS = 1_000;

type Where = Readonly<Record<string, string>>;
type OrderBy = readonly { readonly field: string; readonly order: 'asc' | 'desc' }[];

/** Reads of views that must miss nothing, as policies need them. */
@Injectable()
export class CompleteViews {
  constructor(
    @Inject(Projecting) private readonly projecting: Pick<Projecting, 'gap'>,
    @Inject(READ_STORE) private readonly store: Pick<ReadStore, 'find'>,
  ) {}

  /**
   * Resolves when a view can prove that something does not exist: it shows the whole log up to a position. Throws
   * `Unavailable` if it will later, and another error if dead letters must be solved first. A policy's reaction then
   * becomes a dead letter itself, to be retried after them.
   */
  async reached(view: string, position: Position): Promise<void> {
    const gap = await this.projecting.gap(view, position, VIEW_MS);
    if (gap === undefined) return;
    if (gap.passes) throw new Unavailable(`the view ${view}`, gap.reason);
    throw new Error(`the view ${view} is incomplete: ${gap.reason}, then retry this`);
  }

  /**
   * Resolves once a view shows the log up to a position, except for events that wait for dead letters. Throws
   * `Unavailable` if it is late. For decisions that must not use a late view and must not wait for an operator.
   */
  async caughtUp(view: string, position: Position): Promise<void> {
    const gap = await this.projecting.gap(view, position, VIEW_MS);
    if (gap?.passes === true) throw new Unavailable(`the view ${view}`, gap.reason);
  }

  /**
   * Waits at most a second for a view to show the log up to a position, for reads that respond even if it does not.
   * Returns whether it does.
   */
  async awaited(view: string, position: Position): Promise<boolean> {
    return (await this.projecting.gap(view, position, SHOWN_MS)) === undefined;
  }

  /** The keys of all rows of a view that meet a condition, complete up to a position of the log. Throws as `reached`. */
  async keys(view: string, where: Where, orderBy: OrderBy, position: Position): Promise<readonly string[]> {
    await this.reached(view, position);
    return this.shown(view, where, orderBy);
  }

  /** As `keys`, of what the view shows by now: for reads that look again with `keys` before they say that something is not there. */
  async shown(view: string, where: Where, orderBy: OrderBy): Promise<readonly string[]> {
    const keys: string[] = [];
    for await (const rows of pagesOf(this.store, view, { where, orderBy })) for (const { key } of rows) keys.push(key);
    return keys;
  }
}
