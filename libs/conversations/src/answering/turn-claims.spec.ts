import { Claims } from '@app/coordination';
import { inReadScope, moment, servesReadScope, systemClock, Unavailable } from '@app/kernel';
import { MemoryCoordinationStore } from '../../../../test/fixtures/memory-coordination-store';
import type { OpenTurn } from '../conversation/open-turns';
import { TurnClaims } from './turn-claims';

const waiting: OpenTurn = { messageId: 'm', answerId: 'a', channel: 'api', parts: [], isWaiting: true };

/** Claims beside a log on a server: within a scope it is asked once, until the scope is renewed. */
const world = () => {
  const log: { turns: readonly OpenTurn[] } = { turns: [waiting] };
  let known = { asked: moment(), turns: log.turns };
  const open = (): Promise<readonly OpenTurn[]> => {
    if (!servesReadScope(known.asked)) known = { asked: moment(), turns: log.turns };
    return Promise.resolve(known.turns);
  };
  const claims = new Claims(new MemoryCoordinationStore(), systemClock, 'here', 5_000, console);
  return { log, turns: new TurnClaims(claims, { open, closeAbandoned: () => Promise.resolve() }, systemClock) };
};

it('a turn that still waits, with its claim in hand, is another request’s', () => {
  const { turns } = world();
  return inReadScope(() => expect(turns.rejectHeld('c', 'a')).rejects.toThrow(Unavailable));
});

it('a turn that ended elsewhere since the request read it is not said to be in hand', () => {
  const { log, turns } = world();
  return inReadScope(async () => {
    expect(await turns.isWaiting('c', 'a')).toBe(true);
    log.turns = [];
    expect(await turns.isWaiting('c', 'a')).toBe(true);
    await expect(turns.rejectHeld('c', 'a')).resolves.toBeUndefined();
  });
});
