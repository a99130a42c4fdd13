import { type Position, type RecordedEvent, systemClock } from '@app/kernel';
import { decisionsInMemory, ids, meta } from '../../../../test/fixtures/decisions-in-memory';
import { documentDecider } from '../document/document.decider';
import { documentEvents } from '../document/document.events';
import { tagRegistryDecider } from '../tags/tag-registry.decider';
import { tagEvents } from '../tags/tag.events';
import { DetachDeletedTags } from './detach-deleted-tags.policy';

/** Views that show the whole log at once. */
const setUp = () => {
  const { log, codec, decisions } = decisionsInMemory([...documentEvents, ...tagEvents]);
  const [spaceId, agentId] = [ids.next(), ids.next()];
  const documents = new Map<string, string | null>();
  const tagsOf = async (documentId: string) => {
    const { state } = await decisions.load(documentDecider, documentId);
    return 'tagIds' in state ? state.tagIds : [];
  };
  const policy = new DetachDeletedTags(
    decisions,
    systemClock,
    async (of, tagIds) => {
      const found: string[] = [];
      for (const [id, space] of documents)
        if ((space === null || space === of) && (await tagsOf(id)).some((tagId) => tagIds.includes(tagId)))
          found.push(id);
      return found;
    },
    async (tagIds) => {
      const { state } = await decisions.load(tagRegistryDecider, spaceId);
      return new Set(tagIds.filter((tagId) => state.tags.has(tagId)));
    },
  );
  const last = async (stream: string) => (await codec.decode(await log.readStream(stream))).at(-1) as RecordedEvent;
  const newTag = async (): Promise<string> => {
    const tagId = ids.next();
    const tag = { tagId, spaceId, name: tagId, color: '#808080' };
    await decisions.transact(tagRegistryDecider, spaceId, { type: 'Create', ...tag }, meta());
    return tagId;
  };
  const deleteTag = async (tagId: string): Promise<RecordedEvent> => {
    await decisions.transact(tagRegistryDecider, spaceId, { type: 'Delete', tagId }, meta());
    return last(`tags-${spaceId}`);
  };
  const add = async (scope: 'agent' | 'global', tagIds: readonly string[]): Promise<string> => {
    const documentId = ids.next();
    const place = scope === 'global' ? { spaceId: null, agentId: null } : { spaceId, agentId };
    const content = { mimeType: 'text/plain', sizeBytes: 1, contentHash: 'h', provider: 'inline' as const, file: 'f' };
    const added = { documentId, scope, ...place, name: 'a', ...content, tagIds };
    await decisions.transact(documentDecider, documentId, { type: 'Add', ...added }, meta());
    documents.set(documentId, place.spaceId);
    return documentId;
  };
  const attach = async (documentId: string, tagId: string): Promise<RecordedEvent> => {
    await decisions.transact(documentDecider, documentId, { type: 'AttachTag', tagId }, meta());
    return last(`document-${documentId}`);
  };
  const spaceDeleted = (): RecordedEvent => ({
    type: 'SpaceDeleted',
    data: {},
    context: {
      id: ids.next(),
      stream: `space-${spaceId}`,
      revision: 1,
      position: '1' as Position,
      recordedAt: '',
      actor: 'user:1',
      commandId: ids.next(),
      correlationId: ids.next(),
    },
  });
  return { policy, decisions, log, newTag, deleteTag, add, attach, tagsOf, last, spaceDeleted };
};

it('a deleted tag goes off every document, once, and others stay on them', async () => {
  const { policy, log, newTag, deleteTag, add, tagsOf } = setUp();
  const [gone, kept] = [await newTag(), await newTag()];
  const [own, global, other] = [
    await add('agent', [gone, kept]),
    await add('global', [gone]),
    await add('agent', [kept]),
  ];
  const event = await deleteTag(gone);
  for (let time = 0; time < 3; time += 1) await policy.react(event);
  expect([await tagsOf(own), await tagsOf(global), await tagsOf(other)]).toEqual([[kept], [], [kept]]);
  expect(log.events.filter(({ type }) => type === 'DocumentTagsChanged')).toHaveLength(2);
});

it('a tag that was attached behind its deletion goes too, by whichever event it came', async () => {
  const { policy, newTag, deleteTag, add, attach, tagsOf, last } = setUp();
  const [gone, kept] = [await newTag(), await newTag()];
  const early = await add('global', []);
  await policy.react(await deleteTag(gone));
  await policy.react(await attach(early, gone));
  const late = await add('agent', [gone, kept]);
  await policy.react(await last(`document-${late}`));
  await policy.react(await attach(early, kept));
  expect([await tagsOf(early), await tagsOf(late)]).toEqual([[kept], [kept]]);
});

it('the tags of a deleted Space go off global documents', async () => {
  const { policy, newTag, add, tagsOf, spaceDeleted } = setUp();
  const global = await add('global', [await newTag(), await newTag()]);
  await policy.react(spaceDeleted());
  expect(await tagsOf(global)).toEqual([]);
});

it('a document that is deleted meanwhile needs nothing', async () => {
  const { decisions, newTag, deleteTag, add } = setUp();
  const [tag, unknown] = [await newTag(), ids.next()];
  await add('agent', [tag]);
  const event = await deleteTag(tag);
  const withUnknown = new DetachDeletedTags(
    decisions,
    systemClock,
    async () => [unknown],
    async () => new Set(),
  );
  await expect(withUnknown.react(event)).resolves.toBeUndefined();
});
