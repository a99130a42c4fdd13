import { defineEvent, type EventsOf } from '@app/kernel';
import { z } from 'zod';

export const sessionStarted = defineEvent({
  type: 'SessionStarted',
  description:
    'Somebody signed in with an API key. `secretHash` is a keyed hash of what the cookie holds, which is kept nowhere; `keyHash` one of the secret of the key, whose replacement ends the session.',
  data: z.strictObject({
    userId: z.uuid(),
    keyId: z.uuid(),
    keyHash: z.string(),
    secretHash: z.string(),
    expiresAt: z.iso.datetime(),
  }),
});

export const sessionEnded = defineEvent({
  type: 'SessionEnded',
  description: 'A session was ended by its user. It also ends with its API key, with its user, and when it expires.',
  data: z.strictObject({}),
});

export const sessionEvents = [sessionStarted, sessionEnded] as const;
export type SessionEvent = EventsOf<typeof sessionEvents>;
