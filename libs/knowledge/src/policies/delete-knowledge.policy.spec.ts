import { type AnyEvent, type RecordedEvent, systemClock } from '@app/kernel';
import { DeletionWithOwner } from '@app/projecting';
import { decisionsInMemory, ids, meta } from '../../../../test/fixtures/decisions-in-memory';
import { documentDecider } from '../document/document.decider';
import { documentEvents } from '../document/document.events';
import { DeleteKnowledgeOfTheDeleted } from './delete-knowledge.policy';

const [AGENT, SPACE] = [ids.next(), ids.next()];

const setUp = () => {
  const { log, codec, decisions } = decisionsInMemory(documentEvents);
  const documents = new Map<string, { agentId: string; spaceId: string }>();
  const policy = new DeleteKnowledgeOfTheDeleted(decisions, new DeletionWithOwner(log, systemClock), async (owner) =>
    [...documents]
      .filter(([, document]) =>
        'agentId' in owner ? document.agentId === owner.agentId : document.spaceId === owner.spaceId,
      )
      .map(([documentId]) => documentId),
  );
  const add = async (agentId = AGENT): Promise<RecordedEvent> => {
    const documentId = ids.next();
    documents.set(documentId, { agentId, spaceId: SPACE });
    await decisions.transact(
      documentDecider,
      documentId,
      {
        type: 'Add',
        documentId,
        scope: 'agent',
        spaceId: SPACE,
        agentId,
        name: 'a',
        mimeType: 'text/plain',
        sizeBytes: 1,
        contentHash: 'h',
        provider: 'inline',
        file: 'f',
        tagIds: [],
      },
      meta(),
    );
    return (await codec.decode(await log.readStream(`document-${documentId}`)))[0] as RecordedEvent;
  };
  const end = async (stream: string, type: string): Promise<RecordedEvent> => {
    const id = ids.next();
    await log.append(stream, [{ id, type, data: '{}', metadata: '{}' }], 'any');
    const context = {
      id,
      stream,
      revision: 0,
      position: (await log.head()) as string,
      recordedAt: '',
      actor: 'user:1',
      commandId: ids.next(),
      correlationId: ids.next(),
    };
    return { type, data: {}, context } as RecordedEvent<AnyEvent>;
  };
  const deleted = () => log.events.filter(({ type }) => type === 'DocumentDeleted').map(({ stream }) => stream);
  return { policy, add, end, deleted };
};

it.each([
  ['Agent', `agent-${AGENT}`, 'AgentDeleted'],
  ['Space', `space-${SPACE}`, 'SpaceDeleted'],
])('documents go with their %s, once, however often it is said', async (_, stream, type) => {
  const { policy, add, end, deleted } = setUp();
  const added = [await add(), await add()];
  const event = await end(stream, type);
  for (let time = 0; time < 3; time += 1) await policy.react(event);
  expect(deleted()).toEqual(added.map(({ context }) => context.stream));
});

it('a document that was added behind the deletion goes too, others stay', async () => {
  const { policy, add, end, deleted } = setUp();
  const other = await add(ids.next());
  await end(`agent-${AGENT}`, 'AgentDeleted');
  const late = await add();
  for (const event of [other, late]) await policy.react(event);
  expect(deleted()).toEqual([late.context.stream]);
});
