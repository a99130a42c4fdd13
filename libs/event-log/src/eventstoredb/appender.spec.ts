import { Unavailable } from '@app/kernel';
import { newEvents } from '../contract/log-under-test.contract';
import type { AppendAnswer } from './append-answer';
import type { AppendStream } from './append-stream';
import { Appender } from './appender';

/** An appender whose server answers so, and then cannot be read. Of a stream of appends it uses `send` alone. */
const answering = (answer: AppendAnswer): Appender =>
  new Appender(
    { lostAt: undefined, trouble: undefined },
    { send: () => ({ answer: Promise.resolve(answer), giveUp: () => undefined }) } as unknown as AppendStream,
    { from: unreadable, last: unreadable },
  );
const unreadable = (): Promise<never> => Promise.reject(new Unavailable('event log', 'the server cannot be reached'));

describe('an append whose events cannot be read back', () => {
  it.each<AppendAnswer>([
    { kind: 'stands', revision: 0, position: undefined },
    { kind: 'wrongRevision', actual: 0 },
  ])('may stand: nobody may take back what it names ($kind)', async (answer) => {
    await expect(answering(answer).append('a-1', newEvents(1), 'noStream')).rejects.toMatchObject({
      name: 'Unavailable',
      outcome: 'unknown',
      reason: 'the server cannot be reached',
    });
  });
});
