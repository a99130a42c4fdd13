import { type Decider, never, reject } from '@app/kernel';
import type { SessionEvent } from './session.events';

/** A session and the key that it stands for. */
export interface StartedSession {
  readonly userId: string;
  /** The API key that it was started with. It has the rights of that key, and ends with it. */
  readonly keyId: string;
  /** `hashOfKey` of the key that it was started with. */
  readonly keyHash: string;
  readonly secretHash: string;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
}

/** State of a session. */
export type Session = { readonly status: 'absent' } | ({ readonly status: 'open' | 'ended' } & StartedSession);

/** What can be asked of a session. */
export type SessionCommand = { readonly type: 'Start'; readonly session: StartedSession } | { readonly type: 'End' };

/** A session of somebody who signed in. Whether its key and user are still valid is asked when it is used, not here. */
export const sessionDecider: Decider<Session, SessionCommand, SessionEvent> = {
  category: 'session',
  initial: { status: 'absent' },

  decide: (command, session) => {
    switch (command.type) {
      case 'Start':
        if (session.status === 'absent') return [{ type: 'SessionStarted', data: command.session }];
        return session.secretHash === command.session.secretHash ? [] : reject('conflict', { reason: 'exists' });
      case 'End':
        if (session.status === 'absent') return reject('not_found');
        return session.status === 'ended' ? [] : [{ type: 'SessionEnded', data: {} }];
      default:
        return never(command);
    }
  },

  evolve: (session, event) => {
    switch (event.type) {
      case 'SessionStarted':
        return { status: 'open', ...event.data };
      case 'SessionEnded':
        return session.status === 'absent' ? session : { ...session, status: 'ended' };
      default:
        return never(event);
    }
  },
};
