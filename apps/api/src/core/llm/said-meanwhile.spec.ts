import { recorded } from '../../../../../libs/kernel/src/decider.contract';
import type { RecordedAnswer } from '../../../../../libs/conversations/src/answering/history';
import type { MessageRow } from '@projections/messages';
import { withSaid } from './said-meanwhile';

const row = (given: Partial<MessageRow>): MessageRow => ({
  id: 'a1',
  conversationId: 'c1',
  parentId: 'q1',
  role: 'assistant',
  parts: [],
  status: 'waiting',
  finishReason: null,
  usage: null,
  model: null,
  channel: null,
  feedback: null,
  sequence: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  ...given,
});
const parts = [{ type: 'text' as const, text: 'I would ask.' }];
const [ended] = recorded('conversation-c1', [
  {
    type: 'AssistantMessageAdded',
    data: {
      messageId: 'a1',
      conversationId: 'c1',
      parentId: 'q1',
      parts,
      status: 'stopped',
      finishReason: 'other',
      usage: null,
      model: 'm',
    },
  },
]) as [RecordedAnswer];

it('shows an answer that ended as it ended where the view does not have it yet', async () => {
  const turns = { saidMeanwhile: async () => new Map(), eventsOf: async () => [ended] };
  const question = row({ id: 'q1', role: 'user', status: 'complete' });
  expect(await withSaid(turns, 'c1', [row({}), question])).toMatchObject([
    { id: 'a1', parts, status: 'stopped' },
    question,
  ]);
});

it('shows what was said of one under way, and what the view has of one that is gone', async () => {
  const said = new Map([['a1', { parts, status: 'streaming' as const }]]);
  const turns = { saidMeanwhile: async () => said, eventsOf: async () => [] };
  expect(await withSaid(turns, 'c1', [row({}), row({ id: 'a2' })])).toEqual([
    row({ parts, status: 'streaming' }),
    row({ id: 'a2' }),
  ]);
});
