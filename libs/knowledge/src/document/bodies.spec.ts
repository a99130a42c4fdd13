import {
  type CommandMeta,
  Decisions,
  DomainError,
  EventCatalogue,
  EventCodec,
  type Keyring,
  TimeOrderedIds,
  Unavailable,
} from '@app/kernel';
import { UnusedKeys } from '@app/blobs';
import { Claims } from '@app/coordination';
import type { Vault } from '@app/vault';
import { FixedClock } from '../../../../test/fixtures/fixed-clock';
import { MemoryBlobs } from '../../../../test/fixtures/memory-blobs';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { MemoryCoordinationStore } from '../../../../test/fixtures/memory-coordination-store';
import { addedDocumentId, Batches } from './batches';
import { Bodies } from './bodies';
import { CreateDocuments, CreateDocumentsHandler } from './commands/create-documents';
import { UpdateDocument, UpdateDocumentHandler } from './commands/update-document';
import { documentDecider } from './document.decider';
import { documentEvents } from './document.events';

/** A log that goes away behind an append, or is read as ever. */
class LeavingLog extends MemoryLog {
  leaves = false;
  private isDown = false;

  override async append(...given: Parameters<MemoryLog['append']>) {
    const stands = await super.append(...given);
    this.isDown = this.leaves;
    return stands;
  }

  override async readStream(...given: Parameters<MemoryLog['readStream']>) {
    if (this.isDown) throw new Unavailable('log', 'the server cannot be reached');
    return super.readStream(...given);
  }

  comeBack(): void {
    this.leaves = false;
    this.isDown = false;
  }
}

/** Bodies that can be stored, and for a time not removed. */
class KeepingBlobs extends MemoryBlobs {
  isDown = false;

  override async remove(names: readonly string[]): Promise<void> {
    if (this.isDown) throw new Unavailable('blobs', 'no answer');
    return super.remove(names);
  }
}

const unknown = new Unavailable('log', 'its answer was lost', 'unknown');

const setUp = () => {
  const keyring: Keyring = {
    ensureKey: async () => Buffer.alloc(32, 1),
    keys: async (streams) => new Map(streams.map((stream) => [stream, Buffer.alloc(32, 1)])),
  };
  const log = new LeavingLog();
  const decisions = new Decisions(log, new EventCodec(new EventCatalogue(documentEvents), keyring));
  const blobs = new KeepingBlobs();
  const destroyed: Parameters<Vault['destroy']>[0][] = [];
  const destroy: Vault['destroy'] = async (selector) => {
    destroyed.push(selector);
    return [];
  };
  const bodies = new Bodies(blobs, decisions, new UnusedKeys({ ...keyring, destroy }));
  const [ids, clock] = [new TimeOrderedIds(), new FixedClock()];
  const batches = new Batches(
    decisions,
    new Claims(new MemoryCoordinationStore(), clock, ids.next(), 10_000, console),
    clock,
  );
  const meta = (): CommandMeta => ({
    commandId: ids.next(),
    correlationId: ids.next(),
    actor: 'user:1',
    now: clock.now(),
  });
  const add = async (by = meta()): Promise<string> => {
    const body = await bodies.store(addedDocumentId(by, 0), null, Buffer.from('the first'));
    await new CreateDocumentsHandler(decisions, bodies, batches).execute(
      new CreateDocuments(
        [
          {
            scope: 'global',
            spaceId: null,
            agentId: null,
            name: 'a.md',
            mimeType: 'text/markdown',
            provider: 'inline',
            tagIds: [],
            body,
          },
        ],
        by,
      ),
    );
    return addedDocumentId(by, 0);
  };
  const replace = async (documentId: string) => {
    const body = await bodies.store(documentId, null, Buffer.from('the second'));
    return new UpdateDocumentHandler(decisions, bodies).execute(
      new UpdateDocument(documentId, { content: { mimeType: 'text/markdown', body } }, meta()),
    );
  };
  const textOf = async (documentId: string): Promise<string | undefined> => {
    const { state } = await decisions.load(documentDecider, documentId);
    return 'file' in state ? blobs.bodies.get(state.file)?.toString() : undefined;
  };
  return { log, blobs, bodies, destroyed, meta, add, replace, textOf };
};

describe('a body that an event names', () => {
  it('stays where the log goes away behind the event', async () => {
    const { log, add, replace, textOf } = setUp();
    const documentId = await add();
    log.leaves = true;
    await replace(documentId);
    log.comeBack();
    expect(await textOf(documentId)).toBe('the second');
  });

  it('stays where the answer of the event is lost', async () => {
    const { log, add, replace, textOf } = setUp();
    const documentId = await add();
    const append = log.append.bind(log);
    jest.spyOn(log, 'append').mockImplementationOnce(async (...given) => {
      await append(...given);
      throw unknown;
    });
    await expect(replace(documentId)).rejects.toBe(unknown);
    expect(await textOf(documentId)).toBe('the second');
  });

  it('keeps its key where the event may come yet, and not where it was rejected', async () => {
    const { bodies, destroyed } = setUp();
    await bodies.destroyUnused(['d1'], unknown);
    expect(destroyed).toEqual([]);
    await bodies.destroyUnused(['d1'], new DomainError('too_large'));
    expect(destroyed).toEqual([{ stream: 'document-d1' }]);
  });

  it('stays, and its document with it, where the body of a repeat cannot be removed', async () => {
    const { blobs, meta, add, textOf } = setUp();
    const by = meta();
    const documentId = await add(by);
    blobs.isDown = true;
    expect(await add(by)).toBe(documentId);
    expect(await textOf(documentId)).toBe('the first');
  });
});

describe('a body that no event names', () => {
  it('is removed: that of a repeat, and one of equal content', async () => {
    const { blobs, meta, add, replace } = setUp();
    const by = meta();
    const documentId = await add(by);
    await add(by);
    expect(blobs.bodies.size).toBe(1);
    await replace(documentId);
    await replace(documentId);
    expect([...blobs.bodies.values()].map(String)).toEqual(['the first', 'the second']);
  });
});
