import type { Admin } from 'kafkajs';

export interface TopicShape {
  readonly partitions: number;
  readonly replication: number;
}

/** Makes the topics that are missing; those that are there stay as they are. */
export const ensureTopics = async (
  admin: Admin,
  topics: readonly string[],
  { partitions, replication }: TopicShape,
): Promise<void> => {
  const present = new Set(await admin.listTopics());
  const missing = topics.filter((topic) => !present.has(topic));
  if (missing.length === 0) return;
  // Answers false, without an error, when another process made them meanwhile. Waiting for leaders fails while brokers do
  // not know the topics yet; the first batch is tried again instead.
  await admin.createTopics({
    topics: missing.map((topic) => ({ topic, numPartitions: partitions, replicationFactor: replication })),
    waitForLeaders: false,
  });
};
