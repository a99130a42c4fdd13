import { Claims } from '@app/coordination';
import {
  type CommandMeta,
  Decisions,
  DomainError,
  EventCatalogue,
  EventCodec,
  InstanceSecret,
  TimeOrderedIds,
  Unavailable,
} from '@app/kernel';
import { claimForfeited } from '@app/reservations';
import { FixedClock } from '../../../../test/fixtures/fixed-clock';
import { MemoryCoordinationStore } from '../../../../test/fixtures/memory-coordination-store';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { skillEvents } from '../skill/skill.events';
import { SkillNames } from './skill-names';
import { skillNameEvents } from './skill-names.events';

const unavailable = new Unavailable('vault', 'no answer');

const setUp = () => {
  const keyring = { ensureKey: async () => Buffer.alloc(32), keys: async () => new Map<string, Buffer>() };
  const [clock, ids, log] = [new FixedClock(), new TimeOrderedIds(), new MemoryLog()];
  const codec = new EventCodec(new EventCatalogue([...skillEvents, ...skillNameEvents, claimForfeited]), keyring);
  const names = new SkillNames(
    new Decisions(log, codec),
    new InstanceSecret(Buffer.alloc(32, 1)),
    new Claims(new MemoryCoordinationStore(), clock, 'here', 5_000, console),
    ids,
    { SKILLS_PER_PLACE: 10 },
  );
  const spaceId = ids.next();
  const hold = (act: () => Promise<string>) => {
    const commandId = ids.next();
    const meta: CommandMeta = { commandId, correlationId: commandId, actor: 'user:1', now: clock.now() };
    return names.hold({ spaceId, agentId: null, skillId: ids.next(), name: 'Travels', slug: 'travels' }, meta, act);
  };
  const types = () => log.events.map(({ type }) => type);
  return { names, clock, log, hold, types };
};

describe('the name of a Skill', () => {
  it('is free at once for others where a store did not serve its command, and nothing was done', async () => {
    const { log, hold } = setUp();
    await expect(hold(() => Promise.reject(unavailable))).rejects.toBe(unavailable);
    expect(await hold(async () => 'done')).toBe('done');
    const skills = log.events.filter(({ stream }) => stream.startsWith('skill-'));
    expect(skills.map(({ type }) => type)).toEqual(['ClaimForfeited']);
  });

  it.each([
    ['rejected', new DomainError('forbidden')],
    ['not served', unavailable],
  ])('is given back later where its command was %s, and the log did not answer then', async (_, error) => {
    const { names, clock, log, hold, types } = setUp();
    const command = hold(() => {
      jest.spyOn(log, 'append').mockRejectedValueOnce(new Unavailable('log', 'no answer'));
      return Promise.reject(error);
    });
    await expect(command).rejects.toBe(error);
    expect(types()).toEqual(['SkillNameTaken']);
    clock.advance(60_000);
    await names.finish(clock.now());
    expect(types()).toEqual(['SkillNameTaken', 'ClaimForfeited', 'SkillNameReleased']);
  });
});
