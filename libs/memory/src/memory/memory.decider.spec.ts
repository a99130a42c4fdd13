import * as fc from 'fast-check';
import { decidesOnce, given } from '../../../kernel/src/decider.contract';
import { type MemoryCommand, memoryDecider, type NewMemory } from './memory.decider';
import type { MemoryEvent } from './memory.events';

const memory: NewMemory = {
  memoryId: 'm1',
  agentId: 'a1',
  spaceId: 's1',
  userId: 'u1',
  kind: 'shared',
  text: 'Tea is in the kitchen',
  hash: 'h',
  origin: 'user',
  source: null,
  replaces: null,
  screening: { version: '1' },
};
const place = { agentId: 'a1', userId: 'u1', kind: 'shared' } as const;
const screening = { version: '2' };
const proposed: MemoryEvent = { type: 'MemoryProposed', data: { ...memory, expiresAt: '2026-12-01T00:00:00.000Z' } };
const saved: MemoryEvent = { type: 'MemorySaved', data: { ...memory, kind: 'personal' } };
const confirmed: MemoryEvent = { type: 'MemoryConfirmed', data: { agentId: 'a1', kind: 'shared', screening } };
const deleted: MemoryEvent = { type: 'MemoryDeleted', data: place };
const flag = { type: 'Flag', ...place, hash: 'f', rules: ['r'], version: '2' } as const;

describe('a memory', () => {
  it('is proposed, then confirmed, saved for its user or discarded', () => {
    const open = given(memoryDecider, proposed);
    open.when({ type: 'Confirm', screening }).yields(confirmed);
    open
      .when({ type: 'SaveForMe', hash: 'mine', screening })
      .yields({ type: 'MemorySavedForMe', data: { agentId: 'a1', hash: 'mine', screening } });
    open
      .when({ type: 'Discard', reason: 'lapsed' })
      .yields({ type: 'MemoryDiscarded', data: { ...place, reason: 'lapsed' } });
    expect(
      given(memoryDecider, proposed, {
        type: 'MemorySavedForMe',
        data: { agentId: 'a1', hash: 'mine', screening },
      }).state,
    ).toMatchObject({ status: 'saved', kind: 'personal', hash: 'mine', screening });
  });

  it('is chosen once: what came first stands', () => {
    const chosen = given(memoryDecider, proposed, confirmed);
    chosen.when({ type: 'Confirm', screening }).yields();
    chosen.when({ type: 'Discard', reason: 'discarded' }).rejects('conflict', { reason: 'memory_chosen' });
    const gone = given(memoryDecider, proposed, { type: 'MemoryDiscarded', data: { ...place, reason: 'discarded' } });
    gone.when({ type: 'Confirm', screening }).rejects('conflict', { reason: 'memory_chosen' });
    gone.when({ type: 'SaveForMe', hash: 'h', screening }).rejects('conflict', { reason: 'memory_chosen' });
    given(memoryDecider).when({ type: 'Confirm', screening }).rejects('not_found');
  });

  it('is not edited by who took a place for it before another edit was done or abandoned', () => {
    const edit = { type: 'Edit', text: 'Tea is out', hash: 'h2', screening, edits: 0 } as const;
    const abandoned: MemoryEvent = { type: 'MemoryEditAbandoned', data: { ticket: 't1' } };
    const edited: MemoryEvent = { type: 'MemoryEdited', data: { text: 'Coffee', hash: 'h3', screening } };
    given(memoryDecider, saved).when({ type: 'AbandonEdit', ticket: 't1', hash: 'h2' }).yields(abandoned);
    // It is done, or was.
    given(memoryDecider, saved).when({ type: 'AbandonEdit', ticket: 't1', hash: 'h' }).yields();
    given(memoryDecider, proposed).when({ type: 'AbandonEdit', ticket: 't1', hash: 'h2' }).yields();
    for (const before of [abandoned, edited]) {
      const over = given(memoryDecider, saved, before);
      over.when(edit).rejects('conflict', { reason: 'memory_edited' });
      over
        .when({ ...edit, edits: 1 })
        .yields({ type: 'MemoryEdited', data: { text: 'Tea is out', hash: 'h2', screening } });
    }
  });

  it('is edited once it is saved, by what was found safe', () => {
    const edit = { type: 'Edit', text: 'Tea is out', hash: 'h2', screening, edits: 0 } as const;
    given(memoryDecider, saved)
      .when(edit)
      .yields({ type: 'MemoryEdited', data: { text: 'Tea is out', hash: 'h2', screening } });
    given(memoryDecider, proposed).when(edit).rejects('conflict', { reason: 'memory_proposed' });
    given(memoryDecider, saved, deleted).when(edit).rejects('not_found');
  });

  it('says that a text was flagged without the text; a proposal ends by it, a saved one stays as it was', () => {
    const data = { ...place, hash: 'f', rules: ['r'], version: '2' };
    given(memoryDecider)
      .when({ ...flag, during: 'creation' })
      .yields({ type: 'MemoryFlagged', data: { ...data, during: 'creation' } });
    given(memoryDecider, proposed)
      .when({ ...flag, during: 'choice' })
      .yields({ type: 'MemoryFlagged', data: { ...data, during: 'choice' } });
    const edited: MemoryEvent = { type: 'MemoryFlagged', data: { ...data, during: 'edit' } };
    given(memoryDecider, saved)
      .when({ ...flag, during: 'edit' })
      .yields(edited);
    expect(given(memoryDecider, saved, edited).state).toMatchObject({ status: 'saved', text: memory.text });
    expect(
      given(memoryDecider, proposed, { type: 'MemoryFlagged', data: { ...data, during: 'choice' } }).state,
    ).toEqual({ status: 'flagged', ...place });
  });

  it('is deleted when it was saved, and discarded when it was proposed', () => {
    given(memoryDecider, proposed, confirmed).when({ type: 'Delete' }).yields(deleted);
    given(memoryDecider, proposed)
      .when({ type: 'Delete' })
      .yields({ type: 'MemoryDiscarded', data: { ...place, reason: 'deleted' } });
    given(memoryDecider).when({ type: 'Delete' }).rejects('not_found');
  });

  it('cannot be saved any more once its saving was given up', () => {
    const abandoned: MemoryEvent = { type: 'MemoryDiscarded', data: { ...place, reason: 'abandoned' } };
    given(memoryDecider)
      .when({ type: 'Abandon', ...place })
      .yields(abandoned);
    given(memoryDecider, abandoned).when({ type: 'Save', memory }).rejects('conflict', { reason: 'exists' });
    given(memoryDecider, saved)
      .when({ type: 'Abandon', ...place })
      .yields();
  });

  it('belongs to its user and its Space; a shared one outlives its user', () => {
    expect(memoryDecider.owner?.(saved)).toEqual({ spaceId: 's1', userId: 'u1' });
    expect(memoryDecider.owner?.(proposed)).toEqual({ spaceId: 's1' });
  });

  it('decides a command once', () => {
    const commands: readonly MemoryCommand[] = [
      { type: 'Propose', memory, expiresAt: '2026-12-01T00:00:00.000Z' },
      { type: 'Save', memory },
      { type: 'Confirm', screening },
      { type: 'SaveForMe', hash: 'mine', screening },
      { type: 'Discard', reason: 'discarded' },
      { type: 'Edit', text: 'Tea is out', hash: 'h2', screening, edits: 0 },
      { type: 'AbandonEdit', ticket: 't1', hash: 'h2' },
      { ...flag, during: 'creation' },
      { ...flag, during: 'choice' },
      { ...flag, during: 'edit' },
      { type: 'Delete' },
      { type: 'Repeat' },
      { type: 'Abandon', ...place },
    ];
    decidesOnce(memoryDecider, fc.constantFrom(...commands));
  });
});
