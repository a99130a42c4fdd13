import { type Blobs, discardBodies } from '@app/blobs';
import { type CommandMeta, type Decisions, isUnavailable, type Receipt, streamOf } from '@app/kernel';
import type { DocumentCommand } from '../document/document.commands';
import { documentDecider, type LiveDocument } from '../document/document.decider';

export interface DocumentWriterParts {
  readonly decisions: Pick<Decisions, 'transact'>;
  readonly blobs: Pick<Blobs, 'group' | 'put' | 'get' | 'remove'>;
  readonly meta: () => CommandMeta;
}

/** Reads and stores the bodies of a document under its key, and appends the events that name them. */
export class DocumentWriter {
  private readonly stream: string;

  constructor(
    private readonly parts: DocumentWriterParts,
    readonly document: LiveDocument,
  ) {
    this.stream = streamOf(documentDecider.category, document.documentId);
  }

  decide(command: DocumentCommand): Promise<Receipt> {
    return this.parts.decisions.transact(documentDecider, this.document.documentId, command, this.parts.meta());
  }

  read(name: string): Promise<Buffer | undefined> {
    return this.parts.blobs.get(this.stream, name);
  }

  /**
   * Stores bodies, and events that name them. Undefined if newer content, another attempt or a deletion was faster; the
   * bodies are then removed.
   */
  async store(
    bodies: readonly Buffer[],
    naming: (names: readonly string[]) => DocumentCommand,
  ): Promise<Receipt | undefined> {
    const names: string[] = [];
    try {
      await this.put(bodies, names);
      const receipt = await this.decide(naming(names));
      if (receipt.eventIds.length > 0) return receipt;
    } catch (error) {
      // An event may name them.
      if (!(isUnavailable(error) && error.outcome === 'unknown')) await discardBodies(this.parts.blobs, names);
      throw error;
    }
    await discardBodies(this.parts.blobs, names);
    return undefined;
  }

  /** Stores bodies, several together, and adds their names in order, even those of the others if one fails. */
  private async put(bodies: readonly Buffer[], names: string[]): Promise<void> {
    const { blobs } = this.parts;
    const { spaceId } = this.document;
    const owner = spaceId === null ? {} : { spaceId };
    const [body, ...more] = bodies;
    if (body !== undefined && more.length === 0)
      return void names.push((await blobs.put(this.stream, body, owner)).name);
    const group = blobs.group();
    const put = await Promise.allSettled(bodies.map((each) => group.put(this.stream, each, owner)));
    for (const each of put) if (each.status === 'fulfilled') names.push(each.value.name);
    for (const each of put) if (each.status === 'rejected') throw each.reason;
    await group.durable();
  }
}
