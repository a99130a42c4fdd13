import { EVENT_LOG } from '@app/event-log';
import {
  type Clock,
  CLOCK,
  type CommandMeta,
  eachOfAll,
  type EventDefinition,
  idOf,
  isDeleted,
  type Position,
  reactionTo,
  type RecordedEvent,
  stepOf,
  type StreamReader,
} from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import type { Policy } from '../projection';

/** The categories of owners, by the event of their deletion. What is made in one names it: `spaceId` for `space`. */
const OWNERS = { AgentDeleted: 'agent', SpaceDeleted: 'space', UserDeleted: 'user' } as const;

/** Ids of what an owner has, complete up to the event at `position`. */
type Lookup = (ownerId: string, position: Position) => Promise<readonly string[]>;

/** What is deleted with its owners. */
export interface Owned {
  /** The deletions that it goes with, and how what is there is found. */
  readonly with: Readonly<Partial<Record<keyof typeof OWNERS, Lookup>>>;
  /** The event that makes one. It names its owners; null: it has none of this kind. */
  readonly made: EventDefinition;
  /** Deletes one. Changes nothing if it is deleted already. */
  readonly remove: (id: string, meta: CommandMeta) => Promise<unknown>;
}

/**
 * Makes the policies that delete what belongs to a deleted Agent, Space or user. The lookup has what was made before the
 * deletion; what a concurrent request makes after it is handled by its own event. Repeating it after a crash changes nothing.
 */
@Injectable()
export class DeletionWithOwner {
  constructor(
    @Inject(EVENT_LOG) private readonly log: StreamReader,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** The types and the reaction of the policy with this name. Throws if what makes one does not name an owner. */
  of(name: string, owned: Owned): Pick<Policy, 'types' | 'react'> {
    const { type: made, data: schema } = owned.made;
    const lookups = new Map(Object.entries(owned.with));
    const owners = Object.entries(OWNERS).filter(([type]) => lookups.has(type));
    for (const [type, category] of owners)
      if (!(`${category}Id` in schema.shape))
        throw new Error(`${name} deletes on ${type}, but ${made} has no field ${category}Id`);

    const isOrphaned = async (data: RecordedEvent['data']): Promise<boolean> => {
      const gone = owners.map(async ([type, category]) => {
        const ownerId = data[`${category}Id`];
        return ownerId !== null && isDeleted(this.log, `${category}-${String(ownerId)}`, type);
      });
      return (await Promise.all(gone)).some(Boolean);
    };

    const react = async (event: RecordedEvent): Promise<void> => {
      const { stream, position } = event.context;
      const remove = async (id: string): Promise<void> => {
        await owned.remove(id, stepOf(reactionTo(event, name, this.clock.now()), id));
      };
      const lookup = lookups.get(event.type);
      if (lookup !== undefined) await eachOfAll(await lookup(idOf(stream), position), remove);
      else if (await isOrphaned(event.data)) await remove(idOf(stream));
    };

    return { types: [...lookups.keys(), made], react };
  }
}
