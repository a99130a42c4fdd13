import { type RecordedEvent, systemClock } from '@app/kernel';
import { decisionsInMemory, ids, meta } from '../../../../test/fixtures/decisions-in-memory';
import { tagRegistryDecider } from '../tags/tag-registry.decider';
import { tagEvents } from '../tags/tag.events';
import { DeleteTagsOfDeletedSpaces } from './delete-tags-of-deleted-spaces.policy';

const [GONE, THERE] = [ids.next(), ids.next()];

it('a tag that was made behind the deletion of its Space goes too, once, and others stay', async () => {
  const { log, codec, decisions } = decisionsInMemory(tagEvents);
  const policy = new DeleteTagsOfDeletedSpaces(decisions, log, systemClock);
  const make = async (spaceId: string): Promise<RecordedEvent> => {
    await decisions.transact(
      tagRegistryDecider,
      spaceId,
      { type: 'Create', tagId: ids.next(), spaceId, name: 'T', color: '#808080' },
      meta(),
    );
    return (await codec.decode(await log.readStream(`tags-${spaceId}`)))[0] as RecordedEvent;
  };
  await log.append(`space-${GONE}`, [{ id: ids.next(), type: 'SpaceDeleted', data: '{}', metadata: '{}' }], 'any');
  const [late, other] = [await make(GONE), await make(THERE)];
  for (const event of [late, other, late]) await policy.react(event);
  const deleted = log.events.filter(({ type }) => type === 'TagDeleted');
  expect(deleted.map(({ stream, data }) => [stream, JSON.parse(data)])).toEqual([
    [`tags-${GONE}`, { tagId: late.data['tagId'], withSpace: true }],
  ]);
});
