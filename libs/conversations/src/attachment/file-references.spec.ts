import { type Decisions, Unavailable } from '@app/kernel';
import { Map as PersistentMap } from 'immutable';
import type { AttachmentsOf } from '../lookups';
import { FileReferences } from './file-references';

const name = { fileId: 'f', conversationId: 'c', messageId: 'm' };
type Shown = Awaited<ReturnType<AttachmentsOf>>;

/** Of a view that shows the one by now, and the other once it is complete (an error: it does not become so). */
const references = ({
  shown = [],
  complete = [],
  there = ['m'],
  status = 'Live',
}: {
  readonly shown?: Shown;
  readonly complete?: Shown | Error;
  readonly there?: readonly string[];
  readonly status?: string;
}) => {
  let parents = PersistentMap<string, string | null>();
  for (const each of there) parents = parents.set(each, null);
  return new FileReferences(
    // Whether a conversation is there, and what it holds, is all that is asked of them.
    { load: async () => ({ state: { status, parents } }) } as unknown as Decisions,
    async (_of, position) => {
      if (position === null) return shown;
      if (complete instanceof Error) throw complete;
      return complete;
    },
    { head: async () => '1' },
  );
};
const late = new Unavailable('the view attachments', 'it is behind the log');

describe('an attached file is named', () => {
  it('by a message that is there, also where the view is late', async () =>
    expect(await references({ shown: [name], complete: late }).isNamed('f')).toBe(true));

  it('by a message that the view comes to show', async () =>
    expect(await references({ complete: [name] }).isNamed('f')).toBe(true));

  it.each([
    ['was deleted', { there: [] }],
    ['went with its conversation', { status: 'Deleted' }],
  ])('by none that %s', async (_, conversation) =>
    expect(await references({ ...conversation, shown: [name], complete: [name] }).isNamed('f')).toBe(false),
  );

  it('by none where none did', async () =>
    expect(await references({ shown: [{ fileId: 'f' }], complete: [{ fileId: 'f' }] }).isNamed('f')).toBe(false));

  it('by nobody knows which, where the view cannot tell', async () =>
    expect(references({ complete: late }).isNamed('f')).rejects.toBe(late));
});
