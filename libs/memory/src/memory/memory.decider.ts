import { type Decider, never, reject, type Sensitive } from '@app/kernel';
import type { DiscardReason, MemoryEvent, MemoryKind, MemoryOrigin, MemorySource } from './memory.events';

interface Screened {
  readonly version: string;
}

/** A memory as it is made. */
export interface NewMemory {
  readonly memoryId: string;
  readonly agentId: string;
  readonly spaceId: string;
  readonly userId: string;
  readonly kind: MemoryKind;
  readonly text: string;
  readonly hash: string;
  readonly origin: MemoryOrigin;
  readonly source: MemorySource | null;
  readonly replaces: string | null;
  readonly screening: Screened;
}

type Fields = Omit<NewMemory, 'text'> & { readonly text: Sensitive<string> };
/** A proposal; `expiresAt`: ISO 8601 UTC. */
export type ProposedMemory = { readonly status: 'proposed'; readonly expiresAt: string } & Fields;
/**
 * `rejected`: hash of the last text that it was not changed to, since that was flagged. `edits`: how many edits are over, done or
 * abandoned; none where it is absent. `abandoned`: ticket of the last that was.
 */
export type SavedMemory = {
  readonly status: 'saved';
  readonly rejected?: string;
  readonly edits?: number;
  readonly abandoned?: string;
} & Fields;

/** Whose bucket it was in, or would have been. */
export type MemoryPlace = Pick<NewMemory, 'agentId' | 'userId' | 'kind'>;

/** State of a memory. */
export type Memory =
  | { readonly status: 'absent' }
  | ProposedMemory
  | SavedMemory
  /** `flagged`: nothing of it was ever stored, or it was a proposal. `discarded`: it was never saved. `abandoned`: nor stored. */
  | ({ readonly status: 'discarded' | 'abandoned' | 'flagged' | 'deleted' } & MemoryPlace);

/** What can be asked of a memory. */
export type MemoryCommand =
  | { readonly type: 'Propose'; readonly memory: NewMemory; readonly expiresAt: string }
  | { readonly type: 'Save'; readonly memory: NewMemory }
  | { readonly type: 'Confirm'; readonly screening: Screened }
  | { readonly type: 'SaveForMe'; readonly hash: string; readonly screening: Screened }
  | { readonly type: 'Discard'; readonly reason: DiscardReason }
  /** `edits`: how many were over before its place was taken. Rejects `conflict` `memory_edited` where more are: the text may not be free any more. */
  | {
      readonly type: 'Edit';
      readonly text: string;
      readonly hash: string;
      readonly screening: Screened;
      readonly edits: number;
    }
  /** The edit of a ticket was cut short: whoever is still at it must not change the memory any more. `hash`: of the text that it was to have. */
  | { readonly type: 'AbandonEdit'; readonly ticket: string; readonly hash: string }
  | ({
      readonly type: 'Flag';
      readonly during: 'creation' | 'choice' | 'edit';
      readonly hash: string;
      readonly rules: readonly string[];
      readonly version: string;
    } & MemoryPlace)
  /** Asks for the receipt of a command that was decided before. */
  | { readonly type: 'Repeat' }
  | { readonly type: 'Delete' }
  /** Its saving was cut short: whoever is still at it must not save it any more. */
  | ({ readonly type: 'Abandon' } & MemoryPlace);

/**
 * A memory. It has its own stream and data key: deleting, discarding or flagging it erases it. That a place is free is decided
 * by its bucket before. A choice that was made already yields nothing: who asked is told by the receipt.
 */
export const memoryDecider: Decider<Memory, MemoryCommand, MemoryEvent> = {
  category: 'memory',
  initial: { status: 'absent' },

  decide: (command, memory) => {
    switch (command.type) {
      case 'Propose':
        return making(memory, command.memory.userId) ? [proposed(command)] : [];
      case 'Save':
        return making(memory, command.memory.userId) ? [{ type: 'MemorySaved', data: command.memory }] : [];
      case 'Confirm':
      case 'SaveForMe':
        return saved(command, memory);
      case 'Discard':
        return discarded(command, memory);
      case 'Edit':
        return edited(command, memory);
      case 'AbandonEdit':
        return memory.status === 'saved' && memory.hash !== command.hash && memory.abandoned !== command.ticket
          ? [{ type: 'MemoryEditAbandoned', data: { ticket: command.ticket } }]
          : [];
      case 'Flag':
        return flagged(command, memory);
      case 'Repeat':
        return [];
      case 'Delete':
        return deleted(memory);
      case 'Abandon':
        return memory.status === 'absent' ? [notSaved(command, 'abandoned')] : [];
      default:
        return never(command);
    }
  },

  evolve: (memory, event) => {
    switch (event.type) {
      case 'MemoryProposed':
        return { status: 'proposed', ...event.data };
      case 'MemorySaved':
        return { status: 'saved', ...event.data };
      case 'MemoryFlagged':
        if (event.data.during !== 'edit') return { status: 'flagged', ...placeOf(event.data) };
        return memory.status === 'saved' ? { ...memory, rejected: event.data.hash } : memory;
      case 'MemoryDiscarded':
        return { status: event.data.reason === 'abandoned' ? 'abandoned' : 'discarded', ...placeOf(event.data) };
      case 'MemoryDeleted':
        return { status: 'deleted', ...placeOf(event.data) };
      default:
        return memory.status === 'proposed' || memory.status === 'saved' ? changed(memory, event) : memory;
    }
  },

  owner: (event) => {
    if (event.type !== 'MemoryProposed' && event.type !== 'MemorySaved') return {};
    const { kind, spaceId, userId } = event.data;
    // A shared one belongs to its Agent, and outlives who proposed it.
    return kind === 'shared' ? { spaceId } : { spaceId, userId };
  },
};

type Of<Type extends MemoryCommand['type']> = Extract<MemoryCommand, { readonly type: Type }>;

const proposed = ({ memory, expiresAt }: Of<'Propose'>): MemoryEvent => ({
  type: 'MemoryProposed',
  data: { ...memory, expiresAt },
});

/** False where it was made by the same command before. */
const making = (memory: Memory, userId: string): boolean => {
  if (memory.status === 'absent') return true;
  return (memory.status === 'saved' || memory.status === 'proposed') && memory.userId === userId
    ? false
    : reject('conflict', { reason: 'exists' });
};

const saved = (command: Of<'Confirm' | 'SaveForMe'>, memory: Memory): readonly MemoryEvent[] => {
  if (memory.status === 'absent') return reject('not_found');
  if (memory.status === 'saved') return [];
  if (memory.status !== 'proposed') return reject('conflict', { reason: 'memory_chosen' });
  const { agentId, kind } = memory;
  const { screening } = command;
  return command.type === 'Confirm'
    ? [{ type: 'MemoryConfirmed', data: { agentId, kind, screening } }]
    : [{ type: 'MemorySavedForMe', data: { agentId, hash: command.hash, screening } }];
};

const discarded = ({ reason }: Of<'Discard'>, memory: Memory): readonly MemoryEvent[] => {
  if (memory.status === 'absent') return reject('not_found');
  if (memory.status === 'discarded') return [];
  return memory.status === 'proposed' ? [notSaved(memory, reason)] : reject('conflict', { reason: 'memory_chosen' });
};

const notSaved = (place: MemoryPlace, reason: DiscardReason): MemoryEvent => ({
  type: 'MemoryDiscarded',
  data: { ...placeOf(place), reason },
});

const edited = ({ type: _type, edits, ...data }: Of<'Edit'>, memory: Memory): readonly MemoryEvent[] => {
  if (memory.status === 'proposed') return reject('conflict', { reason: 'memory_proposed' });
  if (memory.status !== 'saved') return reject('not_found');
  if (data.text === memory.text) return [];
  return edits === (memory.edits ?? 0)
    ? [{ type: 'MemoryEdited', data }]
    : reject('conflict', { reason: 'memory_edited' });
};

/** A memory that is edited stays as it is. */
const flagged = ({ type: _type, rules, ...found }: Of<'Flag'>, memory: Memory): readonly MemoryEvent[] => {
  const isNew =
    found.during === 'edit'
      ? memory.status === 'saved' && memory.rejected !== found.hash
      : memory.status === 'absent' || memory.status === 'proposed';
  return isNew ? [{ type: 'MemoryFlagged', data: { ...found, rules: [...rules] } }] : [];
};

const deleted = (memory: Memory): readonly MemoryEvent[] => {
  switch (memory.status) {
    case 'absent':
      return reject('not_found');
    case 'proposed':
      return [notSaved(memory, 'deleted')];
    case 'saved':
      return [{ type: 'MemoryDeleted', data: placeOf(memory) }];
    default:
      return [];
  }
};

const changed = (
  memory: ProposedMemory | SavedMemory,
  event: Extract<
    MemoryEvent,
    { type: 'MemoryConfirmed' | 'MemorySavedForMe' | 'MemoryEdited' | 'MemoryEditAbandoned' }
  >,
): Memory => {
  if (event.type === 'MemoryEdited' || event.type === 'MemoryEditAbandoned') {
    if (memory.status !== 'saved') return memory;
    const given = event.type === 'MemoryEdited' ? event.data : { abandoned: event.data.ticket };
    return { ...memory, ...given, edits: (memory.edits ?? 0) + 1 };
  }
  const { status: _, expiresAt: _expires, ...fields } = { expiresAt: null, ...memory };
  if (event.type === 'MemoryConfirmed') return { ...fields, status: 'saved', ...event.data };
  // What takes the place of a shared one does not as somebody's own.
  const replaces = memory.kind === 'personal' ? memory.replaces : null;
  return { ...fields, status: 'saved', ...event.data, kind: 'personal', replaces };
};

const placeOf = ({ agentId, userId, kind }: MemoryPlace): MemoryPlace => ({ agentId, userId, kind });
