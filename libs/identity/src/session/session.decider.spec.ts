import * as fc from 'fast-check';
import { decidesOnce, given } from '../../../kernel/src/decider.contract';
import { sessionDecider, type SessionCommand } from './session.decider';
import type { SessionEvent } from './session.events';

const session = {
  userId: '01900000-0000-7000-8000-0000000000aa',
  keyId: '01900000-0000-7000-8000-0000000000b1',
  keyHash: 'key',
  secretHash: 'hash',
  expiresAt: '2026-11-23T12:00:00.000Z',
};
const started: SessionEvent = { type: 'SessionStarted', data: session };
const ended: SessionEvent = { type: 'SessionEnded', data: {} };

describe('a session', () => {
  it('is started once', () => {
    given(sessionDecider).when({ type: 'Start', session }).yields(started);
    given(sessionDecider, started)
      .when({ type: 'Start', session: { ...session, secretHash: 'other' } })
      .rejects('conflict');
  });

  it('is ended for good', () => {
    given(sessionDecider, started).when({ type: 'End' }).yields(ended);
    given(sessionDecider, started, ended).when({ type: 'End' }).yields();
    given(sessionDecider).when({ type: 'End' }).rejects('not_found');
  });

  it('keeps what it was started with', () =>
    expect(given(sessionDecider, started, ended).state).toEqual({ status: 'ended', ...session }));

  it('yields nothing when a command is repeated', () => {
    const commands: fc.Arbitrary<SessionCommand> = fc.oneof(
      fc.constant({ type: 'Start' as const, session }),
      fc.constant({ type: 'End' as const }),
    );
    decidesOnce(sessionDecider, commands);
  });
});
