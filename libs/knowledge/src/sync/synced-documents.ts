import { Decisions, nameId } from '@app/kernel';
import { Injectable } from '@nestjs/common';
import { documentDecider } from '../document/document.decider';
import { samePath } from './source-paths';

export interface SyncedFile {
  readonly agentId: string;
  readonly sourceId: string;
  readonly path: string;
}

/** How documents from sources say where they came from. */
export const syncProvider = (sourceId: string): `sync:${string}` => `sync:${sourceId}`;

/**
 * The documents of files in sources. Their ids follow from Agent, source and path, so two concurrent syncs create one.
 * If a deleted file comes back, it is the next document at its path, because deletions are final.
 */
@Injectable()
export class SyncedDocuments {
  constructor(private readonly decisions: Decisions) {}

  /** The id of the document that a file is or will be. */
  async idOf(file: SyncedFile): Promise<string> {
    const isDeleted = async (generation: number): Promise<boolean> =>
      (await this.decisions.load(documentDecider, idAt(file, generation))).state.status === 'Deleted';
    let [deleted, next] = [-1, 0];
    while (await isDeleted(next)) [deleted, next] = [next, 2 * next + 1];
    // All up to `deleted` are gone, and `next` is not: the first existing one is between them.
    while (next - deleted > 1) {
      const middle = Math.floor((deleted + next) / 2);
      if (await isDeleted(middle)) deleted = middle;
      else next = middle;
    }
    return idAt(file, next);
  }
}

const idAt = ({ agentId, sourceId, path }: SyncedFile, generation: number): string =>
  nameId(agentId, `sync/${sourceId}/${generation}/${samePath(path)}`);
