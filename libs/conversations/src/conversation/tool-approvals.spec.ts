import { answer, ask, decide, participants } from '../../../../test/fixtures/conversation-commands';
import type { ConversationCommand } from './conversation.commands';

const call = (toolCallId: string) =>
  ({ type: 'tool', toolName: 't', toolCallId, state: 'approval-requested', input: null }) as const;
const said: ConversationCommand = {
  type: 'Continue',
  answerId: 'a1',
  part: 0,
  offset: 0,
  parts: [call('1'), call('2')],
};
const wait = (answerId = 'a1'): ConversationCommand => ({
  type: 'Wait',
  answerId,
  model: 'local-chat',
  usage: null,
  sources: [],
  more: undefined,
});
const respond = (callId: string, approved = true): ConversationCommand => ({
  type: 'Respond',
  ...participants,
  answerId: 'a1',
  callId,
  approved,
});

describe('an answer that waits for approvals', () => {
  it('says so once, with the calls', () => {
    expect(decide(wait(), ask(1), said)).toMatchObject([
      { type: 'ToolApprovalRequested', data: { messageId: 'a1', callIds: ['1', '2'] } },
    ]);
    expect(decide(wait(), ask(1), said, wait())).toEqual([]);
    expect(decide(wait('a2'), ask(1), said)).toEqual([]);
    expect(decide(wait(), ask(1), answer(1))).toEqual([]);
  });

  it('takes one decision for each of its calls, from the moment that it waits', () => {
    const waits = [ask(1), said, wait()] as const;
    expect(decide(respond('1'), ...waits)).toEqual([
      { type: 'ToolApprovalResponded', data: { conversationId: 'c', messageId: 'a1', callId: '1', approved: true } },
    ]);
    expect(() => decide(respond('3'), ...waits)).toThrow('not_found');
    expect(() => decide(respond('1', false), ...waits, respond('1'))).toThrow('conflict');
    expect(decide(respond('2'), ...waits, respond('1'))).toHaveLength(1);
    expect(() => decide(respond('1'), ask(1), said)).toThrow('conflict');
    expect(() => decide(respond('1'), ...waits, answer(1))).toThrow('conflict');
  });
});
