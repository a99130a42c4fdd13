import type { AgentAccess } from '@app/access';
import type { FilePart, SourceDocumentPart } from '@app/conversations';
import { isErased, unlessLeft } from '@app/kernel';
import { type ShownSummary, SummariesBeside } from '@app/section-summaries';
import type { MessageRow } from '@projections/messages';
import { Injectable } from '@nestjs/common';
import { fileUrl } from './conversations-schemas';
import { DeletedSources } from './deleted-sources';

/** A source with the summary of its section, where there is one, and whether its document was deleted since. */
export type ShownSource = SourceDocumentPart & { readonly summary?: ShownSummary; readonly deleted?: true };

interface Known {
  readonly summaries: ReadonlyMap<string, ShownSummary>;
  readonly deleted: ReadonlySet<string>;
}

/**
 * Sources that messages cite, as they are shown now: with the summary of their section, for Agents with `includeAiSummary`, and with a
 * mark where their document is deleted. Both are looked up whenever a message is shown and stand in none: so they are right in old
 * answers too, and what was made of a document goes with it.
 */
@Injectable()
export class MessageSources {
  constructor(
    private readonly beside: SummariesBeside,
    private readonly deletedSources: DeletedSources,
  ) {}

  /** Messages as they are shown now, with where their files are read; the same objects where nothing is added. */
  async messages(agent: AgentAccess, rows: readonly MessageRow[]): Promise<readonly MessageRow[]> {
    const parts = rows.flatMap((row) => (isErased(row.parts) ? [] : row.parts));
    const known = await this.known(agent, parts.filter(isSource));
    if (known.summaries.size === 0 && known.deleted.size === 0 && !parts.some(isFile)) return rows;
    const shown = (part: (typeof parts)[number]) => {
      if (isFile(part)) return { ...part, url: fileUrl(agent.agentId, part.fileId) };
      return isSource(part) ? shownSource(part, known) : part;
    };
    return rows.map((row) => (isErased(row.parts) ? row : { ...row, parts: row.parts.map(shown) }));
  }

  /** A source as it is shown now. */
  async source(agent: AgentAccess, part: SourceDocumentPart): Promise<ShownSource> {
    return shownSource(part, await this.known(agent, [part]));
  }

  private async known(agent: AgentAccess, sources: readonly SourceDocumentPart[]): Promise<Known> {
    const deleted = await this.deletedSources.documents(sources.map(({ documentId }) => documentId));
    const left = sources.filter(({ documentId }) => !deleted.has(documentId));
    return { summaries: await this.summaries(agent, left), deleted };
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

const isFile = (part: { readonly type: string }): part is FilePart => part.type === 'file';
const isSource = (part: { readonly type: string }): part is SourceDocumentPart => part.type === 'source-document';

const shownSource = (part: SourceDocumentPart, { summaries, deleted }: Known): ShownSource => {
  if (deleted.has(part.documentId)) return { ...part, deleted: true };
  const summary = summaries.get(part.sourceId);
  return summary === undefined ? part : { ...part, summary };
};
