import type { RecordedEvent } from '@app/kernel';
import { erasureReceipt, STREAMS_IN_EVENT } from './erasure-receipt.decider';

const deletion = {
  eventId: '018f0000-0000-7000-8000-000000000001',
  eventType: 'SpaceDeleted',
  stream: 'space-s1',
  blobs: 2,
  purged: ['views'],
};
const streamsNamed = (count: number): string[] => Array.from({ length: count }, (_, index) => `document-${index}`);

describe('the receipt of an erasure', () => {
  it('is written where none was', () => {
    expect(erasureReceipt.decide({ ...deletion, streams: streamsNamed(2) }, false)).toEqual([
      { type: 'ContentErased', data: { ...deletion, thingsInAll: 2, things: ['document-0', 'document-1'] } },
    ]);
  });

  it('is written where nothing was encrypted', () => {
    expect(erasureReceipt.decide({ ...deletion, streams: [] }, false)).toHaveLength(1);
  });

  it('is written once', () => {
    const [written] = erasureReceipt.decide({ ...deletion, streams: streamsNamed(1) }, erasureReceipt.initial);
    const isWritten = erasureReceipt.evolve(false, written as RecordedEvent & typeof written);
    expect(erasureReceipt.decide({ ...deletion, streams: streamsNamed(1) }, isWritten)).toEqual([]);
  });

  it('goes on in further events where it is long, each with the number of all', () => {
    const events = erasureReceipt.decide({ ...deletion, streams: streamsNamed(2 * STREAMS_IN_EVENT + 1) }, false);
    expect(events.map(({ data }) => [data.things.length, data.thingsInAll])).toEqual([
      [STREAMS_IN_EVENT, 10_001],
      [STREAMS_IN_EVENT, 10_001],
      [1, 10_001],
    ]);
    expect(events.flatMap(({ data }) => data.things)).toEqual(streamsNamed(10_001));
  });
});
