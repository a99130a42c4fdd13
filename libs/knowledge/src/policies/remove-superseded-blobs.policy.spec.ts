import type { RecordedEvent } from '@app/kernel';
import { recorded } from '../../../../test/fixtures/recorded';
import { MemoryBlobs } from '../../../../test/fixtures/memory-blobs';
import { documentEvents } from '../document/document.events';
import { RemoveSupersededBlobs } from './remove-superseded-blobs.policy';

/** Bodies, two of which an event gives up; and the policy beside views of which some may be late. */
const setUp = async (late: readonly string[] = []) => {
  const blobs = new MemoryBlobs();
  const [kept, ...superseded] = await Promise.all(
    ['new', 'old', 'older'].map((text) => blobs.put('', Buffer.from(text))),
  );
  const names = superseded.map(({ name }) => name);
  const waited: string[] = [];
  const reached = async (view: string, position: string): Promise<void> => {
    if (late.includes(view)) throw new Error(`the view ${view} is late`);
    waited.push(`${view} ${position} ${blobs.bodies.size}`);
  };
  const policy = new RemoveSupersededBlobs(blobs, { reached });
  const event = (type: string): RecordedEvent => recorded('document-1', type, { superseded: names });
  return { kept: kept?.name, left: () => [...blobs.bodies.keys()], waited, policy, event };
};

const AT = '0007';

it('hears of every event of a document that gives bodies up', async () => {
  const { policy } = await setUp();
  const giving = documentEvents.filter(({ data }) => 'superseded' in data.shape).map(({ type }) => type);
  expect([...policy.types].toSorted()).toEqual(giving.toSorted());
});

it.each(['DocumentChunkEdited', 'DocumentRetitled'])(
  'removes what %s gives up once searches and documents no longer show it',
  async (type) => {
    const { kept, left, waited, policy, event } = await setUp();
    await policy.react(event(type));
    expect(waited).toEqual([`passages ${AT} 3`, `documents ${AT} 3`]);
    expect(left()).toEqual([kept]);
  },
);

it.each(['passages', 'documents'])('removes nothing while the view %s may show it', async (view) => {
  const { left, policy, event } = await setUp([view]);
  await expect(policy.react(event('DocumentChunkEdited'))).rejects.toThrow(view);
  expect(left()).toHaveLength(3);
});

it.each(['DocumentReady', 'DocumentReindexed', 'DocumentReindexDiscarded'])(
  'removes at once what %s gives up, which nothing shows',
  async (type) => {
    const { kept, left, waited, policy, event } = await setUp();
    await policy.react(event(type));
    expect([waited, left()]).toEqual([[], [kept]]);
  },
);
