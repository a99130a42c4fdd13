import { ORDINALS, type Ordinals } from '@app/projecting';
import { Module } from '@nestjs/common';
import { stored } from '../../../test/fixtures/counters';
import { goldenData } from '../../../test/fixtures/golden-events';
import { openContext } from '../../../test/fixtures/context';
import { SealArchive } from './seal-archive';
import { SealedOrdinals } from './sealed-ordinals';
import { Sealer } from './sealer';
import { SealingModule } from './sealing.module';

/** The fixture of contexts imports the module of sealing for all. */
@Module({})
class Nothing {}

let context: Awaited<ReturnType<typeof openContext>>;
beforeEach(async () => (context = await openContext(Nothing)));
afterEach(() => context.close());

describe('the module of sealing', () => {
  it('declares its aggregates', () =>
    expect(SealingModule.aggregates.map(({ category }) => category)).toEqual(['sealLog', 'removals', 'unproven']));

  it('seals the log of the instance, and counts its events everywhere by the seals', async () => {
    const { log, module } = context;
    const ordinals = module.get<Ordinals>(ORDINALS, { strict: false });
    expect(ordinals).toBe(module.get(SealedOrdinals, { strict: false }));
    await log.append('agent-01990000-0000-7000-8000-000000000001', [created(), created()], 'any');
    const sealer = module.get(Sealer, { strict: false });
    await sealer.start();
    await sealer.stop();
    const archive = module.get(SealArchive, { strict: false });
    expect(await archive.count()).toBe(1);
    const [first] = log.events;
    expect(await ordinals.ordinalAt(first?.position ?? '')).toBe(1);
    expect(await ordinals.head()).toBe(sealer.ordinal);
  });
});

const created = () => stored('AgentCreated', goldenData('AgentCreated', 1));
