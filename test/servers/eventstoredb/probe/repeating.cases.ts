import { randomUUID } from 'node:crypto';
import { ANY, NO_STREAM, STREAM_EXISTS } from '@eventstore/db-client';
import { type Cases, collect, event, type Expected, type Probe } from './probe';

/** Which of the case's ids are appended, and how. */
interface Append {
  readonly ids: readonly number[];
  readonly expected: Expected;
}

const REPEATS: readonly (readonly [string, first: readonly number[], second: readonly number[]])[] = [
  ['one event', [0], [0]],
  ['two events', [0, 1], [0, 1]],
  ['first of two', [0, 1], [0]],
  ['second of two', [0, 1], [1]],
  ['old then new', [0], [0, 1]],
  ['new then old', [0], [1, 0]],
  ['order swapped', [0, 1], [1, 0]],
];

/** Appending the same events again. */
export const repeating = (probe: Probe): Cases => {
  const cases: Record<string, () => Promise<unknown>> = {};
  for (const others of ['', ', others in between']) {
    for (const [name, expected] of [
      ['no stream', NO_STREAM],
      ['any', ANY],
      ['stream exists', STREAM_EXISTS],
    ] as const) {
      const atFirst = expected === STREAM_EXISTS ? NO_STREAM : expected;
      for (const [repeat, first, second] of REPEATS)
        cases[`again: ${repeat}, expected ${name}${others}`] = () =>
          twice(probe, { ids: first, expected: atFirst }, { ids: second, expected }, others !== '');
    }
    for (const expected of [0n, 1n, 4n])
      cases[`again: two events written at no stream, again expected ${expected}${others}`] = () =>
        twice(probe, { ids: [0, 1], expected: NO_STREAM }, { ids: [0, 1], expected }, others !== '');
  }
  return { ...cases, ...particular(probe) };
};

const twice = async (probe: Probe, first: Append, second: Append, hasOthers: boolean): Promise<unknown> => {
  const stream = probe.fresh();
  const known = [randomUUID(), randomUUID()];
  const write = ({ ids, expected }: Append) =>
    probe.outcome(
      probe.append(
        stream,
        ids.map((x) => event(known[x], { x })),
        expected,
      ),
    );
  const firstOutcome = await write(first);
  if (hasOthers) await probe.append(stream, [event(), event()], ANY);
  const secondOutcome = await write(second);
  return { first: firstOutcome, second: secondOutcome, revisions: await probe.revisions(stream) };
};

const particular = (probe: Probe): Cases => ({
  'again: exact revision, events 3-4 of a stream of 5 written again at the same expected revision': async () => {
    const stream = await probe.filled(3);
    const ids = [randomUUID(), randomUUID()];
    const write = (expected: bigint) =>
      probe.outcome(
        probe.append(
          stream,
          ids.map((id) => event(id)),
          expected,
        ),
      );
    const first = await write(2n);
    await probe.append(stream, event(), ANY);
    const [again, stale, later] = [await write(2n), await write(1n), await write(3n)];
    return {
      first,
      again,
      stale,
      later,
      fresh: await probe.outcome(probe.append(stream, event(), 2n)),
      revisions: await probe.revisions(stream),
    };
  },
  'the same id twice in one append': async () => {
    const stream = probe.fresh();
    const id = randomUUID();
    return {
      result: await probe.outcome(probe.append(stream, [event(id), event(id)], NO_STREAM)),
      revisions: await probe.revisions(stream),
    };
  },
  'the same id in another stream': async () => {
    const id = randomUUID();
    await probe.append(probe.fresh(), event(id), NO_STREAM);
    return probe.append(probe.fresh(), event(id), NO_STREAM);
  },
  'the same id, other data, at the same expected revision': async () => {
    const stream = probe.fresh();
    const id = randomUUID();
    await probe.append(stream, event(id, { v: 1 }), NO_STREAM);
    const again = await probe.outcome(probe.append(stream, event(id, { v: 2 }), NO_STREAM));
    return { again, data: (await collect(probe.client.readStream(stream))).map((resolved) => resolved.event?.data) };
  },
  '100 appends of the same id at once, expected no stream (a real server may leave some to time out)': async () => {
    const stream = probe.fresh();
    const id = randomUUID();
    const kinds = new Set(
      await Promise.all(Array.from({ length: 100 }, () => kindOf(probe.append(stream, event(id), NO_STREAM)))),
    );
    return {
      someSucceed: kinds.delete('success'),
      othersOnlyTimeOut: [...kinds].every((kind) => kind === 'DeadlineExceededError'),
      revisions: await probe.revisions(stream),
    };
  },
  '100 appends of different ids at once, expected no stream': async () => {
    const stream = probe.fresh();
    const kinds = await Promise.all(
      Array.from({ length: 100 }, () => kindOf(probe.append(stream, event(), NO_STREAM))),
    );
    const errors = kinds.filter((kind) => kind !== 'success');
    return {
      succeeded: kinds.length - errors.length,
      errors: [...new Set(errors)],
      revisions: await probe.revisions(stream),
    };
  },
});

const kindOf = (append: Promise<unknown>): Promise<string> =>
  append.then(
    () => 'success',
    (error: Error) => error.constructor.name,
  );
