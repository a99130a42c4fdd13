import type { RecordedEvent } from '@app/kernel';

/** A user, and the API key that they used. */
export interface Requester {
  readonly userId: string;
  readonly keyId?: string;
}

/** Who caused an event. Actors are `user:<id>`, or `key:<id>` on behalf of one. */
export const requesterOf = ({ context: { actor, onBehalfOf } }: RecordedEvent): Requester => {
  const [kind, id = ''] = actor.split(':');
  return kind === 'key' && onBehalfOf !== undefined
    ? { userId: onBehalfOf.slice('user:'.length), keyId: id }
    : { userId: id };
};
