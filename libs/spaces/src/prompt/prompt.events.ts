import { defineEvent, nameSchema, sensitive, textSchema, type EventsOf } from '@app/kernel';
import { z } from 'zod';

export const promptText = textSchema(100_000);
export const promptTags = z.array(nameSchema(50)).max(50);

const title = sensitive(nameSchema());
const text = sensitive(promptText);
const tags = sensitive(promptTags);

export const promptAdded = defineEvent({
  type: 'PromptAdded',
  description: 'A prompt was added to the library of a Space.',
  data: z.strictObject({ spaceId: z.uuid(), title, text, tags }),
});

export const promptChanged = defineEvent({
  type: 'PromptChanged',
  description: 'Fields of a prompt changed; absent ones did not.',
  data: z.strictObject({ title: title.optional(), text: text.optional(), tags: tags.optional() }),
});

export const promptDeleted = defineEvent({
  type: 'PromptDeleted',
  description: 'A prompt was deleted permanently.',
  data: z.strictObject({}),
});

export const promptEvents = [promptAdded, promptChanged, promptDeleted] as const;
export type PromptEvent = EventsOf<typeof promptEvents>;
