import type { AgentAccess } from '@app/access';
import type { SourceDocumentPart } from '@app/conversations';
import { isErased, unlessLeft } from '@app/kernel';
import { type ShownSummary, SummariesBeside } from '@app/section-summaries';
import type { MessageRow } from '@projections/messages';
import { Injectable } from '@nestjs/common';

/** A source with the summary of its section, where there is one. */
export type SummarisedPart = SourceDocumentPart & { readonly summary?: ShownSummary };

/**
 * Summaries beside the sources that messages cite, for Agents with `includeAiSummary`. They are looked up whenever a message is shown
 * and stand in none: what was made of a document goes with it, from old answers too.
 */
@Injectable()
export class MessageSummaries {
  constructor(private readonly beside: SummariesBeside) {}

  /** Messages as they are shown now; the same objects where nothing is added. */
  async messages(agent: AgentAccess, rows: readonly MessageRow[]): Promise<readonly MessageRow[]> {
    const parts = rows.flatMap((row) => (isErased(row.parts) ? [] : row.parts)).filter(isSource);
    const summaries = await this.summaries(agent, parts);
    if (summaries.size === 0) return rows;
    return rows.map((row) =>
      isErased(row.parts)
        ? row
        : { ...row, parts: row.parts.map((part) => (isSource(part) ? withSummary(part, summaries) : part)) },
    );
  }

  /** A source as it is shown now. */
  async source(agent: AgentAccess, part: SourceDocumentPart): Promise<SummarisedPart> {
    return withSummary(part, await this.summaries(agent, [part]));
  }

  private async summaries(
    { agentId, spaceId, agent }: AgentAccess,
    parts: readonly SourceDocumentPart[],
  ): Promise<ReadonlyMap<string, ShownSummary>> {
    if (!agent.version.config.includeAiSummary || parts.length === 0) return new Map();
    const chunks = parts.map(({ sourceId: chunkId, ...part }) => ({ chunkId, ...part }));
    return (await unlessLeft(() => this.beside.of({ agentId, spaceId }, chunks))) ?? new Map();
  }
}

const isSource = (part: { readonly type: string }): part is SourceDocumentPart => part.type === 'source-document';

const withSummary = (part: SourceDocumentPart, summaries: ReadonlyMap<string, ShownSummary>): SummarisedPart => {
  const summary = summaries.get(part.sourceId);
  return summary === undefined ? part : { ...part, summary };
};
