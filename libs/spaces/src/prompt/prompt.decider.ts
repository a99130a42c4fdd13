import { changedFields, type Decider, givenFields, never, reject, type Sensitive } from '@app/kernel';
import type { PromptEvent } from './prompt.events';

/** State of a prompt. */
export type Prompt =
  | { readonly status: 'absent' | 'deleted' }
  | {
      readonly status: 'present';
      readonly spaceId: string;
      readonly title: Sensitive<string>;
      readonly text: Sensitive<string>;
      readonly tags: Sensitive<readonly string[]>;
    };

/** What its authors write of a prompt. */
export interface PromptFields {
  readonly title: string;
  readonly text: string;
  readonly tags: readonly string[];
}

/** What can be asked of a prompt. */
export type PromptCommand =
  | { readonly type: 'Create'; readonly spaceId: string; readonly fields: PromptFields }
  | { readonly type: 'Update'; readonly fields: Partial<PromptFields> }
  | { readonly type: 'Delete' };

/** A prompt of a library. It has its own stream, and so its own data key: deleting it erases it. */
export const promptDecider: Decider<Prompt, PromptCommand, PromptEvent> = {
  category: 'prompt',
  initial: { status: 'absent' },

  decide: (command, prompt) => {
    switch (command.type) {
      case 'Create':
        if (prompt.status !== 'absent')
          return prompt.status === 'present' && prompt.spaceId === command.spaceId
            ? []
            : reject('conflict', { reason: 'exists' });
        return [
          {
            type: 'PromptAdded',
            data: { spaceId: command.spaceId, ...command.fields, tags: [...command.fields.tags] },
          },
        ];
      case 'Update':
        return prompt.status === 'present' ? changed(command.fields, prompt) : reject('not_found');
      case 'Delete':
        if (prompt.status === 'absent') return reject('not_found');
        return prompt.status === 'present' ? [{ type: 'PromptDeleted', data: {} }] : [];
      default:
        return never(command);
    }
  },

  evolve: (prompt, event) => {
    if (event.type === 'PromptAdded') return { status: 'present', ...event.data };
    if (event.type === 'PromptDeleted') return { status: 'deleted' };
    return prompt.status === 'present' ? { ...prompt, ...givenFields(event.data) } : prompt;
  },

  owner: (event) => (event.type === 'PromptAdded' ? { spaceId: event.data.spaceId } : {}),
};

const changed = (
  fields: Partial<PromptFields>,
  prompt: Extract<Prompt, { readonly status: 'present' }>,
): readonly PromptEvent[] => {
  const { tags, ...texts } = changedFields(fields, prompt);
  const data = { ...texts, ...(tags === undefined ? {} : { tags: [...tags] }) };
  return Object.keys(data).length === 0 ? [] : [{ type: 'PromptChanged', data }];
};
