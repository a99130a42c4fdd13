import type { StoredEvent } from '@app/kernel';
import { SealedLog } from '../../../../test/fixtures/sealed-log';
import { SeenEntries } from './seen-entries';
import { verify } from './verify';

describe('verify, of events that stand twice', () => {
  let test: SealedLog;
  beforeEach(async () => void (test = await SealedLog.open()));
  afterEach(async () => {
    await test.close();
    test.remove();
  });

  const verified = (events: readonly StoredEvent[]) => {
    const of = (wanted: (event: StoredEvent) => boolean) =>
      async function* () {
        yield* events.filter(wanted);
      };
    return verify(
      {
        seals: of(({ stream }) => stream === 'sealLog-1'),
        events: of(() => true),
        receipts: of(() => false),
        total: async () => 0,
      },
      { publicKeys: [test.key.publicKey] },
    );
  };

  it('finds a copy of a sealed event, unsealed and under a seal of its own', async () => {
    await test.note('document-1', 'a');
    // Further away than a verifier looks ahead.
    for (let count = 2; count < 5; count += 1)
      await test.notes(
        `document-${count}`,
        Array.from({ length: 900 }, (_, index) => `b${index}`),
      );
    await test.seal();
    const events = await test.events();
    const [first] = events as [StoredEvent];
    expect(await verified(events)).toMatchObject({ ok: true });
    const again = { ...first, position: '9'.repeat(16) };
    expect(await verified([...events, again])).toMatchObject({
      ok: false,
      findings: [{ kind: 'repeated', id: first.id, stream: 'document-1', revision: 0 }],
    });

    // As a sealer that knows nothing of MACs would seal it.
    const { readAll } = test.log;
    test.log.readAll = async (options) => {
      const page = await readAll.call(test.log, options);
      return options?.direction !== 'backwards' && page.end ? { ...page, events: [...page.events, again] } : page;
    };
    await test.sealAsEarlier();
    test.log.readAll = readAll;
    const sealed = await test.events();
    expect((await verified([...sealed.slice(0, -1), again, ...sealed.slice(-1)])).findings).toEqual([
      expect.objectContaining({ kind: 'repeated', ordinal: 2_702, id: first.id }),
    ]);
  });

  it('remembers many', () => {
    const seen = new SeenEntries();
    const entry = (revision: number) => ({ id: 'an-id', revision, stream: 'document-1' });
    for (let revision = 0; revision < 20_000; revision += 1) expect(seen.add(entry(revision))).toBe(true);
    for (let revision = 0; revision < 20_000; revision += 1) expect(seen.add(entry(revision))).toBe(false);
  });
});
