import { type CommandMeta, Decisions, isDomainError, type Receipt, reject } from '@app/kernel';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Bodies, type StoredBody } from '../../document/bodies';
import { UpdateDocument, UpdateDocumentHandler } from '../../document/commands/update-document';
import { documentDecider } from '../../document/document.decider';
import type { SearchingAgent } from '../../search/retrieval';
import { syncProvider } from '../synced-documents';

export interface PutFile {
  /** Of `SyncedDocuments.idOf`; the body is stored for it. */
  readonly documentId: string;
  readonly agent: SearchingAgent;
  readonly sourceId: string;
  readonly path: string;
  readonly mimeType: string;
  readonly body: StoredBody;
}

/**
 * Adds a file of a source as a document, or replaces the content of its document. Equal content changes nothing, unless
 * the document failed.
 */
export class PutSyncedFile extends Command<Receipt> {
  constructor(
    readonly file: PutFile,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(PutSyncedFile)
export class PutSyncedFileHandler implements ICommandHandler<PutSyncedFile> {
  constructor(
    private readonly decisions: Decisions,
    private readonly bodies: Bodies,
    private readonly updating: UpdateDocumentHandler,
  ) {}

  async execute({ file, meta }: PutSyncedFile): Promise<Receipt> {
    const { documentId, mimeType, body } = file;
    const { state } = await this.decisions.load(documentDecider, documentId);
    if (state.status === 'Absent') {
      const added = await this.add(file, meta);
      if (added !== undefined) return added;
    }
    try {
      return await this.updating.execute(new UpdateDocument(documentId, { content: { mimeType, body } }, meta));
    } catch (error) {
      // Deleted since its id was looked up: the file is another document now.
      if (!isDomainError(error, 'not_found')) throw error;
      return reject('conflict', { reason: 'concurrent_changes' });
    }
  }

  /** Undefined where another sync was faster: then this one replaces its content. */
  private async add(
    { documentId, agent: { agentId, spaceId }, sourceId, path, mimeType, body }: PutFile,
    meta: CommandMeta,
  ): Promise<Receipt | undefined> {
    const place = { scope: 'agent' as const, spaceId, agentId };
    const origin = { provider: syncProvider(sourceId), path };
    const content = { name: path, mimeType, ...body, tagIds: [] };
    try {
      return await this.decisions.transact(
        documentDecider,
        documentId,
        { type: 'Add', documentId, ...place, ...origin, ...content },
        meta,
      );
    } catch (error) {
      if (isDomainError(error, 'conflict') && error.facts['reason'] === 'exists') return undefined;
      await this.bodies.discard([body], error);
      throw error;
    }
  }
}
