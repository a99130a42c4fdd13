import { InstanceSecret } from '@app/kernel';
import { decisionsInMemory, ids, meta } from '../../../../../test/fixtures/decisions-in-memory';
import { bucketEvents } from '../../bucket/bucket.events';
import { Places } from '../../bucket/places';
import { ScreenedTexts } from '../../screened-texts';
import { Forgetting } from '../forgetting';
import { memoryEvents } from '../memory.events';
import { CreateMemory, CreateMemoryHandler } from './create-memory';

/** Saves or proposes a memory; `isStopped`: whoever wanted it is stopped while it is screened. */
const create = async (as: 'saved' | 'proposed', isStopped: boolean) => {
  const { log, decisions } = decisionsInMemory([...memoryEvents, ...bucketEvents]);
  const append = jest.spyOn(log, 'append');
  const secret = new InstanceSecret(Buffer.alloc(32));
  const places = new Places(decisions, secret, ids, { MEMORY_PERSONAL_MAX: 9, MEMORY_SHARED_MAX: 9 });
  const stop = new AbortController();
  const rescreen = (text: string) => ({ canonical: text, verdict: 'safe', rules: [], version: '1' }) as const;
  const screen = async (text: string) => {
    if (isStopped) stop.abort(new Error('it was stopped'));
    return rescreen(text);
  };
  const handler = new CreateMemoryHandler(
    decisions,
    places,
    new ScreenedTexts(decisions, secret, { screen, rescreen, version: '1' }),
    new Forgetting(decisions, places),
    async () => ({ personal: 'on', shared: 'on' }),
    async () => 'use',
    { MEMORY_PROPOSAL_DAYS: 30 },
    log,
  );
  const place = { agentId: ids.next(), spaceId: ids.next(), kind: 'personal' } as const;
  const given = { ...place, text: 'I like tea', origin: 'user', source: null } as const;
  const caller = { userId: ids.next(), access: 'use' } as const;
  const outcome = handler.execute(new CreateMemory(caller, given, as, meta(), stop.signal));
  return outcome.then(
    ({ status }) => ({ status, isWritten: append.mock.calls.length > 0 }),
    ({ message }: Error) => ({ message, isWritten: append.mock.calls.length > 0 }),
  );
};

it.each(['saved', 'proposed'] as const)(
  'a memory that nobody wants any more once it is screened is not %s',
  async (as) => {
    expect(await create(as, true)).toEqual({ message: 'it was stopped', isWritten: false });
    expect(await create(as, false)).toEqual({ status: as, isWritten: true });
  },
);
