import { defineEvent, type EventsOf } from '@app/kernel';
import { z } from 'zod';

export const sessionStarted = defineEvent({
  type: 'SessionStarted',
  description:
    'A user signed in with an API key. `secretHash` is a keyed hash of the secret in the cookie, which is stored nowhere. `keyHash` is a keyed hash of the secret of the key; the session ends when that secret is replaced.',
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
  description: 'A user signed out. A session also ends with its API key, with its user, and when it expires.',
  data: z.strictObject({}),
});

export const sessionEvents = [sessionStarted, sessionEnded] as const;
export type SessionEvent = EventsOf<typeof sessionEvents>;
