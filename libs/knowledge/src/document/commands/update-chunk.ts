import { type Blobs, BLOBS, discardBodies } from '@app/blobs';
import {
  type CommandMeta,
  Decisions,
  isDomainError,
  isUnavailable,
  type Receipt,
  reject,
  revealed,
  streamOf,
} from '@app/kernel';
import { Models } from '@app/models';
import { decodePassages, encodePassages, type StoredPassage } from '@app/search-index';
import { type Metering, METERING } from '@app/spending';
import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { embeddingOf, embedMetered, type Payer } from '../../embed-metered';
import { embeddedText, embeddingKey } from '../../ingestion/passages';
import { documentDecider } from '../document.decider';

/** Tries again while others edit chunks of the same document. */
const MOST_TRIES = 5;

export interface ChunkEdit {
  /** Absent: as it is. */
  readonly text?: string;
  readonly enabled?: boolean;
}

/**
 * Changes the text of a chunk, or whether it is searched. New text is embedded, and nothing else. Throws `not_found`,
 * `conflict` unless the document is Ready, `usage_limit_exceeded`, `upstream_error` and `upstream_timeout`.
 */
export class UpdateChunk extends Command<Receipt> {
  constructor(
    readonly documentId: string,
    readonly chunkId: string,
    readonly edit: ChunkEdit,
    readonly payer: Payer,
    readonly signal: AbortSignal,
    readonly meta: CommandMeta,
  ) {
    super();
  }
}

@CommandHandler(UpdateChunk)
export class UpdateChunkHandler implements ICommandHandler<UpdateChunk> {
  constructor(
    private readonly decisions: Decisions,
    @Inject(BLOBS) private readonly blobs: Blobs,
    private readonly models: Models,
    @Inject(METERING) private readonly metering: Metering,
  ) {}

  async execute(command: UpdateChunk): Promise<Receipt> {
    const embedded = new Map<string, Float32Array>();
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.tryOnce(command, embedded);
      } catch (error) {
        const isOvertaken = isDomainError(error, 'conflict') && error.facts['reason'] === 'concurrent_changes';
        if (!isOvertaken || tries === MOST_TRIES) throw error;
      }
    }
  }

  /**
   * `embedded`: vectors that were made before, by model and by embedded text, because the title may have changed since.
   */
  private async tryOnce(
    { documentId, chunkId, edit, payer, signal, meta }: UpdateChunk,
    embedded: Map<string, Float32Array>,
  ): Promise<Receipt> {
    const decide = (command: Parameters<typeof documentDecider.decide>[0]) =>
      this.decisions.transact(documentDecider, documentId, command, meta);
    const { state } = await this.decisions.load(documentDecider, documentId);
    // Also where it is a repeat: then the first receipt comes of it.
    if (state.status !== 'Ready' || state.indexed === null)
      return decide({ type: 'UpdateChunk', chunkId, text: null, enabled: true, edited: false, base: '', passages: '' });
    const { passages: base, model } = state.indexed;
    const body = await this.blobs.get(streamOf(documentDecider.category, documentId), base);
    if (body === undefined) return reject('conflict', { reason: 'concurrent_changes' });
    const passages = [...(await decodePassages(body))];
    const place = passages.findIndex((passage) => passage.chunkId === chunkId);
    const before = passages[place] ?? reject('not_found', { kind: 'chunk', id: chunkId });
    const { text = before.text, enabled = before.enabled } = edit;
    const isNew = text !== before.text;
    // Nothing to change, or a repeat.
    if (!isNew && enabled === before.enabled) return decide({ type: 'Update' });

    const { vector: _, embeddedAs: __, ...rest } = before;
    const after: StoredPassage = isNew ? { ...rest, text, edited: true, enabled } : { ...before, enabled };
    passages[place] = isNew
      ? await this.embedded(revealed(state.name, ''), after, model, payer, signal, embedded)
      : after;
    const { name: stored } = await this.blobs.put(
      streamOf(documentDecider.category, documentId),
      await encodePassages(passages),
      state.spaceId === null ? {} : { spaceId: state.spaceId },
    );
    const edited = after.edited === true;
    try {
      const receipt = await decide({
        type: 'UpdateChunk',
        chunkId,
        text: isNew ? text : null,
        enabled,
        edited,
        base,
        passages: stored,
      });
      if (receipt.repeated) await discardBodies(this.blobs, [stored]);
      return receipt;
    } catch (error) {
      // An event may name them.
      if (!(isUnavailable(error) && error.outcome === 'unknown')) await discardBodies(this.blobs, [stored]);
      throw error;
    }
  }

  /**
   * With the model of the document's vectors. If that model is gone, the chunk is found only by its words until a
   * re-index embeds the document.
   */
  private async embedded(
    name: string,
    passage: StoredPassage,
    ofDocument: string | null,
    payer: Payer,
    signal: AbortSignal,
    before: Map<string, Float32Array>,
  ): Promise<StoredPassage> {
    const embedding = embeddingOf(this.models, ofDocument);
    if (embedding === undefined) return passage;
    const embeddedAs = embeddingKey(name, passage);
    const key = `${embedding.model.key}/${embeddedAs}`;
    const [vector] = before.has(key)
      ? [before.get(key)]
      : await embedMetered({ models: this.models, metering: this.metering }, embedding, {
          texts: [embeddedText(name, passage)],
          purpose: 'passage',
          payer,
          holds: true,
          signal,
        });
    if (vector === undefined) return passage;
    before.set(key, vector);
    return { ...passage, vector, embeddedAs };
  }
}
