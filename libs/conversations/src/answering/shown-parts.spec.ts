import type { MessagePart, ToolPart } from '../conversation/message-parts';
import { shownParts } from './shown-parts';

const call = (toolCallId: string, given: Partial<ToolPart> = {}): ToolPart => ({
  type: 'tool',
  toolName: 'search',
  toolCallId,
  state: 'output-available',
  input: { q: toolCallId },
  output: `found ${toolCallId}`,
  ...given,
});
const text = (said: string): MessagePart => ({ type: 'text', text: said });

describe('parts of an answer', () => {
  it('are shown step by step, each call with what it gave', () => {
    const parts = [
      { type: 'reasoning' as const, text: 'Hm.' },
      text('Let me look.'),
      call('1'),
      call('2'),
      { type: 'step-start' as const },
      text('There.'),
    ];
    expect(shownParts('assistant', parts)).toEqual([
      {
        role: 'assistant',
        content: [
          text('Let me look.'),
          { type: 'tool-call', callId: '1', name: 'search', input: { q: '1' } },
          { type: 'tool-call', callId: '2', name: 'search', input: { q: '2' } },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', callId: '1', name: 'search', output: 'found 1' },
          { type: 'tool-result', callId: '2', name: 'search', output: 'found 2' },
        ],
      },
      { role: 'assistant', content: [text('There.')] },
    ]);
  });

  it.each([
    [{ state: 'output-error', errorText: 'Too slow.' }, 'Too slow.'],
    [{ state: 'output-denied' }, 'The user denied this call.'],
    [{ state: 'approval-requested' }, 'This call was not made.'],
  ] as const)('that %j have a result all the same', (given, output) =>
    expect(shownParts('assistant', [call('1', given)]).at(-1)).toEqual({
      role: 'tool',
      content: [{ type: 'tool-result', callId: '1', name: 'search', output, isError: true }],
    }),
  );
});
