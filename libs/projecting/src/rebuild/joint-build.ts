import type { LogPage, LogReader } from '@app/event-log';
import type { Position } from '@app/kernel';
import type { BuildParts, GrowingBatch } from './build-parts';
import { describeError } from '../dead-letter';
import type { ViewStore } from '../views/view-store';

/** Events read at once, for all builds together. */
const PAGE = 1_000;
/** A build that finds nothing stores how far it came after so many pages. */
const PAGES_PASSED = 200;

/** A build that is caught up together with others. */
export interface JointBuild {
  readonly store: ViewStore;
  readonly parts: BuildParts;
  readonly run: JointRun;
}

/** How it goes, and how it is stopped. */
export class JointRun {
  stopping = false;
  private readonly done = Promise.withResolvers<void>();

  /** Nothing is written any more. */
  get ended(): Promise<void> {
    return this.done.promise;
  }

  end(): void {
    this.done.resolve();
  }
}

/**
 * Brings builds of several views to the end of the log, reading each event once. A failed or stopped build stays where
 * it is; the others continue. Returns the failures, by view.
 */
export const buildJointly = async (
  log: LogReader,
  builds: readonly JointBuild[],
): Promise<Readonly<Record<string, string>>> => {
  const failed: Record<string, string> = {};
  let growing = builds.map((build) => new Growing(log, build));
  try {
    let types = typesOf(growing);
    for (let after = leastOf(builds); growing.length > 0;) {
      const page = await log.readAll({ after, limit: PAGE, filter: { types } });
      const going: Growing[] = [];
      for (const each of growing) {
        const error = await each.take(page).catch((thrown: unknown) => describeError(thrown));
        if (error !== undefined) failed[each.name] = error;
        if (error === undefined && !each.run.stopping && !page.end) going.push(each);
        else each.run.end();
      }
      if (going.length < growing.length) types = typesOf(going);
      growing = going;
      after = page.next;
    }
    return failed;
  } finally {
    for (const { run } of growing) run.end();
  }
};

/** One build while it grows. */
class Growing {
  /** Types of the events that it takes. */
  readonly types: ReadonlySet<string>;
  private batch: GrowingBatch;
  private from: Position | null;
  private upTo: Position | null;
  private passed = 0;

  constructor(
    private readonly log: LogReader,
    private readonly build: JointBuild,
  ) {
    this.types = new Set(build.store.types);
    this.from = this.upTo = build.parts.position;
    this.batch = this.newBatch();
  }

  get name(): string {
    return this.build.store.name;
  }

  get run(): JointRun {
    return this.build.run;
  }

  /** Takes its own events of a page. Writes when there are enough for a commit, or when no more will come. */
  async take({ events, next, end }: LogPage): Promise<undefined> {
    const own = events.filter(({ type }) => this.types.has(type));
    const { mostAtOnce } = this.build.store;
    for (let at = 0; at < own.length; at += mostAtOnce) {
      const part = own.slice(at, at + mostAtOnce);
      await this.batch.add(part);
      // The next commit handles the rest of the page, so this one ends at its own last event.
      this.upTo = part.at(-1)?.position ?? this.upTo;
      if (this.batch.remaining === 0) await this.flush();
    }
    this.upTo = next ?? this.upTo;
    if ((this.passed += 1) >= PAGES_PASSED || end || this.run.stopping) await this.flush();
    return undefined;
  }

  private async flush(): Promise<void> {
    this.passed = 0;
    if (this.upTo === null || this.upTo === this.from) return;
    await this.build.parts.write(this.batch.pages(this.upTo), this.upTo);
    this.from = this.upTo;
    this.batch = this.newBatch();
  }

  private newBatch(): GrowingBatch {
    const { from } = this;
    return this.build.parts.batch(this.build.store.mostAtOnce, async (upTo) => {
      const found: LogPage['events'][number][] = [];
      for (let after = from; ;) {
        const page = await this.log.readAll({ after, limit: PAGE, filter: { types: this.build.store.types } });
        found.push(...page.events.filter(({ position }) => upTo !== null && position <= upTo));
        if (page.end || page.next === null || (upTo !== null && page.next >= upTo)) return found;
        after = page.next;
      }
    });
  }
}

/** The build that is furthest behind determines where to continue; the others skip what they have. */
const leastOf = (builds: readonly JointBuild[]): Position | null => {
  const positions = builds.map(({ parts }) => parts.position);
  return positions.includes(null) ? null : (positions.toSorted()[0] ?? null);
};

const typesOf = (growing: readonly Growing[]): readonly string[] => [
  ...new Set(growing.flatMap((each) => [...each.types])),
];
