import { presenter } from '@app/http';
import { z } from 'zod';

export const signIn = z.strictObject({
  apiKey: z.string().min(1).max(512).describe('The secret of an API key. The session has the rights of that key.'),
});

export const sessionView = presenter<{ readonly userId: string; readonly expiresAt: string }>(
  'Session',
  z.object({
    userId: z.string().describe('Who is signed in.'),
    expiresAt: z.string().describe('When the session ends, ISO 8601 in UTC: after 12 hours, or with its API key.'),
  }),
);
