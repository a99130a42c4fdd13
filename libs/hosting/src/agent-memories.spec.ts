import { systemClock, TimeOrderedIds } from '@app/kernel';
import { type CreateMemory, type Remembered } from '@app/memory';
import type { CommandBus } from '@nestjs/cqrs';
import { MemoriesOfAgents } from './agent-memories';

const ids = new TimeOrderedIds();

it('has nothing saved of an answer that is stopped meanwhile', async () => {
  const sent: CreateMemory[] = [];
  const stop = new AbortController();
  const execute = async (command: CreateMemory) => {
    sent.push(command);
    stop.abort(new Error('it was stopped'));
    command.signal?.throwIfAborted();
    return { memoryId: ids.next(), status: 'saved' };
  };
  const memories = new MemoriesOfAgents(
    { loadAt: async () => undefined },
    // Nothing is read here.
    {} as Remembered,
    // Of it only what saves a memory is called.
    { execute } as unknown as CommandBus,
    systemClock,
    { warn: () => undefined },
  );
  const proposed = memories.propose({
    // Of it only where it is counts here.
    agent: { agentId: ids.next(), spaceId: ids.next() } as Parameters<typeof memories.propose>[0]['agent'],
    userId: ids.next(),
    conversationId: ids.next(),
    messageId: ids.next(),
    commandId: ids.next(),
    text: 'I like tea.',
    kind: 'personal',
    saidByUser: ['I like tea.'],
    signal: stop.signal,
  });
  await expect(proposed).rejects.toThrow('it was stopped');
  expect(sent).toHaveLength(1);
});
