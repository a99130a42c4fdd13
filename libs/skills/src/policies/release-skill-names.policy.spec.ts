import { Claims } from '@app/coordination';
import { InstanceSecret, type RecordedEvent } from '@app/kernel';
import { claimForfeited } from '@app/reservations';
import { decisionsInMemory, ids, meta } from '../../../../test/fixtures/decisions-in-memory';
import { FixedClock } from '../../../../test/fixtures/fixed-clock';
import { MemoryCoordinationStore } from '../../../../test/fixtures/memory-coordination-store';
import { installationDecider } from '../marketplace/installation.decider';
import { installationEvents } from '../marketplace/installation.events';
import { SkillNames } from '../names/skill-names';
import { skillNamesDecider } from '../names/skill-names.decider';
import { skillNameEvents } from '../names/skill-names.events';
import { type SkillCommand, skillDecider } from '../skill/skill.decider';
import { skillEvents } from '../skill/skill.events';
import { ReleaseSkillNames } from './release-skill-names.policy';

const limits = { files: 1, bytes: 1 };

/** A Space, and the policy that meets events whose commands got no further. */
const setUp = () => {
  const { log, codec, decisions } = decisionsInMemory([
    ...skillEvents,
    ...skillNameEvents,
    ...installationEvents,
    claimForfeited,
  ]);
  const clock = new FixedClock();
  const claims = new Claims(new MemoryCoordinationStore(), clock, 'here', 5_000, console);
  const names = new SkillNames(decisions, new InstanceSecret(Buffer.alloc(32)), claims, ids, { SKILLS_PER_PLACE: 10 });
  const policy = new ReleaseSkillNames(names, clock);
  const [spaceId, skillId] = [ids.next(), ids.next()];
  /** Takes a name, and answers its ticket. */
  const take = async (name: string) => {
    const taken = { agentId: null, skillId, ticket: ids.next(), name, slug: name };
    await decisions.transact(skillNamesDecider, spaceId, { type: 'Take', most: 10, ...taken }, meta());
    return taken.ticket;
  };
  const decide = (command: SkillCommand) => decisions.transact(skillDecider, skillId, command, meta());
  const create = async (ticket: string) => {
    const origin = { scope: 'space', spaceId, agentId: null, source: 'CUSTOM', provider: 'inline' } as const;
    const by = { sourceId: null, creatorType: 'USER', creatorId: ids.next() } as const;
    const change = { description: 'D', instructions: 'I', frontmatter: {} };
    const draft = { versionId: ids.next(), savedBy: by.creatorId, change, limits };
    const named = { name: 'N', slug: 'n', ticket };
    await decide({ type: 'Create', origin: { ...origin, ...by }, ...named, draft, publish: false });
  };
  const meetLast = async (stream: string) => {
    const event = (await codec.decode(await log.readStream(stream))).at(-1) as RecordedEvent;
    expect(policy.types).toContain(event.type);
    await policy.react(event);
    return [...(await decisions.load(skillNamesDecider, spaceId)).state.keys()];
  };
  return { decisions, spaceId, skillId, take, decide, create, meetLast };
};

describe('a name that was given up by a command that got no further', () => {
  it('is free after a rename, and the new one is not', async () => {
    const { skillId, take, decide, create, meetLast } = setUp();
    const [before, now] = [await take('n'), await take('m')];
    await create(before);
    await decide({ type: 'Change', rename: { name: 'M', ticket: now } });
    expect(await meetLast(`skill-${skillId}`)).toEqual([now]);
  });

  it('is free after the deletion of its Skill', async () => {
    const { skillId, take, decide, create, meetLast } = setUp();
    const [ticket, other] = [await take('n'), await take('m')];
    await create(ticket);
    await decide({ type: 'Delete' });
    expect(await meetLast(`skill-${skillId}`)).toEqual([other]);
  });

  it('is free after its installation was taken away', async () => {
    const { decisions, spaceId, skillId: id, take, meetLast } = setUp();
    const [ticket, other] = [await take('n'), await take('m')];
    const at = { entryId: ids.next(), versionId: null, scope: 'space', spaceId, agentId: null } as const;
    const install = { type: 'Install', at, ticket, installedBy: ids.next() } as const;
    await decisions.transact(installationDecider, id, install, meta());
    await decisions.transact(installationDecider, id, { type: 'Uninstall' }, meta());
    expect(await meetLast(`skillInstallation-${id}`)).toEqual([other]);
  });
});
