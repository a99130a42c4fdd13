import { type CommandMeta, Decisions, EventCatalogue, EventCodec, Unavailable } from '@app/kernel';
import { modelEvents } from '@app/models';
import { idNumbered, invocation } from '../../../../test/fixtures/invocations';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import type { RecordedInvocation } from '../invocations/invocation.events';
import { restatementEvents } from './restatement.events';
import { type CallsBehind, restatementId, Restatements } from './restatements';

const meta: CommandMeta = {
  commandId: idNumbered(1),
  correlationId: idNumbered(1),
  actor: 'key:k',
  now: new Date('2026-12-01T00:00:00.000Z'),
};
const terms = {
  from: '2026-11-01T00:00:00.000Z',
  to: '2026-12-01T00:00:00.000Z',
  prices: { at: '2026-12-01T00:00:00.000Z' },
  currency: 'USD',
};
const calls = [10, 11, 12, 13, 14].map((number) =>
  invocation(number, { at: `2026-11-${number}T00:00:00.000Z`, cost: String(number) }),
);

/** Two calls a page; `failAt` is where reading breaks off. */
const pagesOf = (all: readonly RecordedInvocation[], failAt?: string): CallsBehind =>
  async function* (_period, place) {
    const left = all.filter(({ at }) => place === null || at > place.at);
    for (let start = 0; start < left.length; start += 2) {
      const page = left.slice(start, start + 2);
      if (failAt !== undefined && page.some(({ at }) => at === failAt)) throw new Unavailable('views', 'broken off');
      yield page;
    }
  };

const setUp = () => {
  const log = new MemoryLog();
  const codec = new EventCodec(new EventCatalogue([...restatementEvents, ...modelEvents]), {
    ensureKey: async () => Promise.reject(new Error('no keys here')),
    keys: async () => new Map(),
  });
  const stream = `restatement-${restatementId(meta)}`;
  const ledger = async () =>
    (await log.readStream(stream)).map(({ type, data }) => ({
      type,
      data: JSON.parse(data) as { calls: { id: string }[] | number },
    }));
  return {
    ledger,
    by: (source: CallsBehind) => new Restatements(new Decisions(log, codec), log, codec, source),
  };
};
const idsOf = (ledger: readonly { readonly data: { readonly calls: { id: string }[] | number } }[]) =>
  ledger.flatMap(({ data }) => (Array.isArray(data.calls) ? data.calls.map(({ id }) => id) : []));

describe('restatements', () => {
  it('go on where they were broken off, and enter nothing twice', async () => {
    const { ledger, by } = setUp();
    await expect(by(pagesOf(calls, calls[2]?.at)).restate(terms, meta)).rejects.toBeInstanceOf(Unavailable);
    expect((await ledger()).map(({ type }) => type)).toEqual(['RestatementBegun', 'InvocationsRestated']);
    await by(pagesOf(calls)).restate({ ...terms, to: '2026-11-30T00:00:00.000Z' }, meta);
    expect(idsOf(await ledger())).toEqual(calls.map(({ id }) => id));
    expect((await ledger()).at(-1)).toMatchObject({
      type: 'RestatementClosed',
      data: { calls: 5, kept: 5, billed: '60', restated: '60' },
    });
  });

  it('answer a command again, and leave a closed ledger as it is', async () => {
    const { ledger, by } = setUp();
    const first = await by(pagesOf(calls)).restate(terms, meta);
    const before = await ledger();
    expect(
      await by(pagesOf([...calls, invocation(15, { at: '2026-11-15T00:00:00.000Z' })])).restate(terms, meta),
    ).toMatchObject({ stream: first.stream, revision: first.revision });
    expect(await ledger()).toEqual(before);
  });

  it('have all calls where two go on with one, and a call was recorded late between their pages', async () => {
    const { ledger, by } = setUp();
    const late = invocation(20, { at: '2026-11-11T12:00:00.000Z', cost: '20' });
    let [read, enter] = [(): void => undefined, (): void => undefined];
    const isRead = new Promise<void>((resolve) => (read = resolve));
    const mayEnter = new Promise<void>((resolve) => (enter = resolve));
    const other: CallsBehind = async function* (period, place) {
      for await (const page of pagesOf(calls.toSpliced(2, 0, late))(period, place)) {
        read();
        await mayEnter;
        yield page;
      }
    };
    let others: Promise<unknown> | undefined;
    const first: CallsBehind = async function* (period, place) {
      let pages = 0;
      for await (const page of pagesOf(calls)(period, place)) {
        // Both read on behind the first page; the other one, which sees another page there, comes to its end before the third.
        if (pages === 1) {
          others = by(other).restate(terms, meta);
          await isRead;
        } else if (pages === 2) {
          enter();
          await others;
        }
        yield page;
        pages += 1;
      }
    };
    await by(first).restate(terms, meta);
    expect(idsOf(await ledger())).toEqual(calls.map(({ id }) => id));
    expect((await ledger()).at(-1)).toMatchObject({ data: { calls: 5, restated: '60' } });
  });

  it('close an empty ledger', async () => {
    const { ledger, by } = setUp();
    await by(pagesOf([])).restate(terms, meta);
    expect((await ledger()).map(({ type }) => type)).toEqual(['RestatementBegun', 'RestatementClosed']);
  });
});
