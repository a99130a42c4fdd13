import { type Decider, never, type RecordedEvent, reject } from '@app/kernel';
import type { BuildEstimate, BuildMode, SummaryIndexEvent } from './summary-index.events';

/** A build under way. */
export interface RunningBuild {
  readonly buildId: string;
  readonly build: number;
  readonly mode: BuildMode;
  /** Key of the chat model that summarises. */
  readonly model: string;
  readonly estimate: BuildEstimate;
  /** Who started it: its calls count for them. */
  readonly askedBy: { readonly userId: string; readonly keyId?: string };
}

/** The index that is searched with. */
export interface LiveIndex {
  readonly build: number;
  /** Blob of its hierarchy. */
  readonly hierarchy: string;
  readonly levels: number;
  readonly summaries: number;
  /** ISO 8601 UTC. */
  readonly builtAt: string;
}

/** The index of an Agent; `running` and `live` are null where it has no such build. */
export interface PresentIndex {
  readonly agentId: string;
  readonly spaceId: string;
  /** Number of the last build, 0 before the first. */
  readonly build: number;
  /** The build since which summaries are used again: the last rebuild, or the first after a removal. */
  readonly since: number;
  readonly running: RunningBuild | null;
  readonly live: LiveIndex | null;
  /** Why the last build failed; null where it did not. */
  readonly failure: string | null;
}

/** State of a section-summary index. */
export type SummaryIndex =
  { readonly status: 'absent' } | { readonly status: 'deleted' } | ({ readonly status: 'present' } & PresentIndex);

/** What can be asked of a section-summary index. */
export type SummaryIndexCommand =
  | {
      readonly type: 'Start';
      readonly agentId: string;
      readonly spaceId: string;
      readonly buildId: string;
      readonly mode: BuildMode;
      readonly model: string;
      readonly estimate: BuildEstimate;
    }
  | {
      readonly type: 'Complete';
      readonly build: number;
      readonly hierarchy: string;
      readonly levels: number;
      readonly summaries: number;
    }
  | { readonly type: 'Fail'; readonly build: number; readonly code: string }
  | { readonly type: 'Cancel' | 'Remove' | 'Delete' };

/**
 * The section-summary index of an Agent: at most one build at a time, and the index it makes takes the place of the one before in
 * one event. What a build reports that is not the running one changes nothing. Throws `conflict` and `not_found`.
 */
export const summaryIndexDecider: Decider<SummaryIndex, SummaryIndexCommand, SummaryIndexEvent> = {
  category: 'summaryIndex',
  initial: { status: 'absent' },
  decide: (command, state) => {
    switch (command.type) {
      case 'Start':
        return start(command, state);
      case 'Complete': {
        const { type: _, ...built } = command;
        return isRunning(state, built.build)
          ? [{ type: 'SummaryIndexBuilt', data: { ...built, superseded: hierarchiesOf(state) } }]
          : [];
      }
      case 'Fail': {
        const { build, code } = command;
        return isRunning(state, build) ? [{ type: 'SummaryIndexBuildFailed', data: { build, code } }] : [];
      }
      case 'Cancel':
        return cancelled(state);
      case 'Remove':
        return removed(state);
      case 'Delete':
        return state.status === 'present'
          ? [...cancelled(state), { type: 'SummaryIndexDeleted', data: { blobs: hierarchiesOf(state) } }]
          : [];
      default:
        return never(command);
    }
  },
  evolve: (state, event) => {
    if (event.type === 'SummaryIndexBuildStarted') return started(state, event);
    if (state.status !== 'present') return state;
    switch (event.type) {
      case 'SummaryIndexBuilt': {
        const { superseded: _, ...live } = event.data;
        return { ...state, running: null, failure: null, live: { ...live, builtAt: event.context.recordedAt } };
      }
      case 'SummaryIndexBuildCancelled':
        return { ...state, running: null };
      case 'SummaryIndexBuildFailed':
        return { ...state, running: null, failure: event.data.code };
      case 'SummaryIndexRemoved':
        return { ...state, running: null, live: null, failure: null, since: event.data.build + 1 };
      case 'SummaryIndexDeleted':
        return { status: 'deleted' };
      default:
        return never(event);
    }
  },
  owner: (event) => (event.type === 'SummaryIndexBuildStarted' ? { spaceId: event.data.spaceId } : {}),
};

type Start = Extract<SummaryIndexCommand, { readonly type: 'Start' }>;
type Started = Extract<SummaryIndexEvent, { readonly type: 'SummaryIndexBuildStarted' }>;

const start = ({ type: _type, ...given }: Start, state: SummaryIndex): readonly SummaryIndexEvent[] => {
  if (state.status === 'deleted') return reject('not_found');
  if (state.status === 'present' && state.running?.buildId === given.buildId) return [];
  if (state.status === 'present' && state.running !== null) return reject('conflict', { reason: 'build_running' });
  const build = state.status === 'present' ? state.build + 1 : 1;
  return [{ type: 'SummaryIndexBuildStarted', data: { ...given, build } }];
};

const started = (state: SummaryIndex, event: RecordedEvent<Started>): SummaryIndex => {
  const { agentId, spaceId, buildId, build, mode, model, estimate } = event.data;
  const before = state.status === 'present' ? state : { since: 1, live: null };
  return {
    status: 'present',
    agentId,
    spaceId,
    build,
    since: mode === 'rebuild' ? build : before.since,
    running: { buildId, build, mode, model, estimate, askedBy: requesterOf(event) },
    live: before.live,
    failure: null,
  };
};

const cancelled = (state: SummaryIndex): readonly SummaryIndexEvent[] =>
  state.status === 'present' && state.running !== null
    ? [{ type: 'SummaryIndexBuildCancelled', data: { build: state.running.build } }]
    : [];

/** Also what builds that did not come to their end have left goes. */
const removed = (state: SummaryIndex): readonly SummaryIndexEvent[] =>
  state.status === 'present' && state.since <= state.build
    ? [
        ...cancelled(state),
        {
          type: 'SummaryIndexRemoved',
          data: { agentId: state.agentId, build: state.build, blobs: hierarchiesOf(state) },
        },
      ]
    : [];

const isRunning = (state: SummaryIndex, build: number): boolean =>
  state.status === 'present' && state.running?.build === build;

const hierarchiesOf = (state: SummaryIndex): string[] =>
  state.status === 'present' && state.live !== null ? [state.live.hierarchy] : [];

/** Actors are `user:<id>`, or `key:<id>` on behalf of one. */
const requesterOf = ({ context: { actor, onBehalfOf } }: RecordedEvent<Started>): RunningBuild['askedBy'] => {
  const [kind, id = ''] = actor.split(':');
  return kind === 'key' && onBehalfOf !== undefined
    ? { userId: onBehalfOf.slice('user:'.length), keyId: id }
    : { userId: id };
};
