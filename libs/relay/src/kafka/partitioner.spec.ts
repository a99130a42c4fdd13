import fc from 'fast-check';
import { type Message, type PartitionMetadata, Partitioners } from 'kafkajs';
import { anyCharacter } from '../../../../test/fixtures/any-character';
import { partitionByKey } from './partitioner';

test('Keys go to the partitions that every client of Kafka sends them to', () => {
  const ours = partitionByKey();
  const theirs = Partitioners.DefaultPartitioner();
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.integer({ min: 1, max: 50 }), (key, partitions) => {
      const partitionMetadata = Array.from({ length: partitions }, (_, partitionId): PartitionMetadata => ({
        partitionErrorCode: 0,
        partitionId,
        leader: 1,
        replicas: [1],
        isr: [1],
      }));
      const message: Message = { key, value: null };
      expect(ours({ topic: 'agents', partitionMetadata, message })).toBe(
        theirs({ topic: 'agents', partitionMetadata, message }),
      );
    }),
    { numRuns: 500 },
  );
});
