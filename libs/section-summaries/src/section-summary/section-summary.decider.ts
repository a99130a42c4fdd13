import { type Decider, never, type Sensitive } from '@app/kernel';
import type { SectionSummaryEvent } from './section-summary.events';

/** What a summary is made of and says. */
export interface NewSummary {
  readonly agentId: string;
  readonly spaceId: string;
  /** Number of the build that made it. */
  readonly build: number;
  /** 1 for what is made of chunks alone. */
  readonly level: number;
  /** Documents whose chunks it is made of, without those of the summaries below. */
  readonly documentIds: readonly string[];
  /** Summaries of the levels below that it is made of. */
  readonly summaryIds: readonly string[];
  readonly text: Sensitive<string>;
  /** Key of the model that wrote it. */
  readonly model: string;
}

/** A summary that is there; `vector` is null until it is embedded. */
export interface PresentSummary extends NewSummary {
  readonly vector: { readonly blob: string; readonly model: string } | null;
}

/** State of a section summary. */
export type SectionSummary =
  { readonly status: 'absent' } | { readonly status: 'removed' } | ({ readonly status: 'present' } & PresentSummary);

/** What can be asked of a section summary. */
export type SectionSummaryCommand =
  | ({ readonly type: 'Add' } & Omit<NewSummary, 'text'> & { readonly text: string })
  | { readonly type: 'Embed'; readonly vector: string; readonly embeddingModel: string }
  | { readonly type: 'Remove' };

/** A summary has a stream, and so a data key, of its own: it goes with any of the documents that it was made of. Never comes back. */
export const sectionSummaryDecider: Decider<SectionSummary, SectionSummaryCommand, SectionSummaryEvent> = {
  category: 'sectionSummary',
  initial: { status: 'absent' },
  decide: (command, state) => {
    switch (command.type) {
      case 'Add': {
        const { type: _, documentIds, summaryIds, ...given } = command;
        const data = { ...given, documentIds: [...documentIds], summaryIds: [...summaryIds] };
        return state.status === 'absent' ? [{ type: 'SectionSummaryAdded', data }] : [];
      }
      case 'Embed': {
        if (state.status !== 'present' || state.vector?.blob === command.vector) return [];
        const { vector, embeddingModel } = command;
        return [{ type: 'SectionSummaryEmbedded', data: { vector, embeddingModel, superseded: vectorsOf(state) } }];
      }
      case 'Remove':
        return state.status === 'present'
          ? [{ type: 'SectionSummaryRemoved', data: { agentId: state.agentId, blobs: vectorsOf(state) } }]
          : [];
      default:
        return never(command);
    }
  },
  evolve: (state, event) => {
    if (event.type === 'SectionSummaryAdded') return { status: 'present', ...event.data, vector: null };
    if (state.status !== 'present') return state;
    if (event.type === 'SectionSummaryRemoved') return { status: 'removed' };
    const { vector: blob, embeddingModel: model } = event.data;
    return { ...state, vector: { blob, model } };
  },
  owner: (event) => (event.type === 'SectionSummaryAdded' ? { spaceId: event.data.spaceId } : {}),
};

const vectorsOf = ({ vector }: PresentSummary): string[] => (vector === null ? [] : [vector.blob]);
