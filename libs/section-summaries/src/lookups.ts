import type { Position } from '@app/kernel';

/** An Agent and its Space. */
export interface SummarisedAgent {
  readonly agentId: string;
  readonly spaceId: string;
}

/** A Ready document that an Agent searches. */
export interface SourceDocument {
  readonly documentId: string;
  readonly name: string;
  /** Revision at which its passages were indexed. */
  readonly revision: number;
  /** Blob of its passages, in its own stream. */
  readonly passages: string;
  readonly chunkCount: number;
  readonly tokenCount: number;
}

/** Passages that are searched: other ones have another blob. */
export type ReadyPassages = Pick<SourceDocument, 'revision' | 'passages'>;

/** Injection token of `SummarySources`. */
export const SUMMARY_SOURCES = Symbol('SummarySources');
/** The documents that a section-summary index of an Agent is made of. */
export interface SummarySources {
  /** Every Ready document that the Agent searches, of all levels, in order of their ids. */
  of(agent: SummarisedAgent): Promise<readonly SourceDocument[]>;
  /** Those of the documents that the Agent searches and that are Ready, each with the passages that are searched. */
  ready(agent: SummarisedAgent, documentIds: readonly string[]): Promise<ReadonlyMap<string, ReadyPassages>>;
}

/** Ids of the summaries that are there; complete where the view has come as far as was asked for. */
export interface PresentSummaries {
  readonly ids: ReadonlySet<string>;
  readonly isComplete: boolean;
}

/** Injection token of `SummariesOf`. */
export const SUMMARIES_OF = Symbol('SummariesOf');
/** Summaries by what they are made of, or whose they are, complete up to the event at a position. */
export interface SummariesOf {
  /** Ids of the summaries that are made of a document or of a summary directly. */
  source(sourceId: string, position: Position): Promise<readonly string[]>;
  /** The summaries of an Agent with the builds that made them. */
  agent(
    agentId: string,
    position: Position,
  ): Promise<readonly { readonly summaryId: string; readonly build: number }[]>;
  /**
   * Those of some summaries that are shown. What was there at a position is waited for, a second at most: `isComplete` where it is shown,
   * so that the others are gone.
   */
  present(summaryIds: readonly string[], position: Position): Promise<PresentSummaries>;
}

/** Injection token of `RunningBuilds`. */
export const RUNNING_BUILDS = Symbol('RunningBuilds');
/** Ids of the Agents whose index is being built, also by processes that have died. */
export type RunningBuilds = () => Promise<readonly string[]>;
