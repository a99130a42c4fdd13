import { randomUUID } from 'node:crypto';
import { ANY, type AppendToStreamOptions, NO_STREAM, STREAM_EXISTS } from '@eventstore/db-client';
import { type Cases, event, type Expected, type Probe } from './probe';

const EXPECTATIONS: readonly (readonly [string, Expected])[] = [
  ['none given', undefined],
  ['any', ANY],
  ['no stream', NO_STREAM],
  ['stream exists', STREAM_EXISTS],
  ['0', 0n],
  ['5', 5n],
];

/** A client's option, which an append ignores. */
const NOT_THROWING: AppendToStreamOptions & { readonly throwOnAppendFailure: false } = { throwOnAppendFailure: false };

/** Appending against an expected revision. */
export const appending = (probe: Probe): Cases => {
  const cases: Record<string, () => Promise<unknown>> = {};
  for (const [name, expected] of EXPECTATIONS) {
    cases[`append to a new stream, expected ${name}`] = () => probe.append(probe.fresh(), event(), expected);
    cases[`append to a stream of 3, expected ${name}`] = async () =>
      probe.append(await probe.filled(), event(), expected);
    cases[`append to a stream of 3, expected ${name}, throwOnAppendFailure false`] = async () =>
      probe.append(await probe.filled(), event(), expected, NOT_THROWING);
  }
  return {
    ...cases,
    'append to a stream of 3, expected 2': async () => probe.append(await probe.filled(), event(), 2n),
    'append 3 events at once': () => probe.append(probe.fresh(), [event(), event(), event()], NO_STREAM),
    'append no event to a new stream': () => probe.append(probe.fresh(), [], ANY),
    'append no event to a stream of 3, expected 2': async () => probe.append(await probe.filled(), [], 2n),
    'append no event, wrong expected revision': async () => probe.append(await probe.filled(), [], 7n),
  };
};

/** Deadlines, credentials and a client that was disposed. */
export const calling = (probe: Probe): Cases => ({
  'append with a deadline of 1 ms (either is right, nothing else is)': () =>
    probe.append(probe.fresh(), event(), ANY, { deadline: 1 }).then(
      ({ success }) => success,
      (error: Error) => error.constructor.name === 'DeadlineExceededError',
    ),
  'append with wrong credentials (an insecure server may ignore them)': () =>
    probe.append(probe.fresh(), event(), ANY, { credentials: { username: 'nobody', password: 'wrong' } }),
});

/** An id that is no UUID is answered twice, and the second answer ends the client: these are the last cases of a run. */
export const fatal = (probe: Probe, thrown: readonly string[]): Cases => ({
  'an id that is no UUID': async () => {
    const answer = await probe.outcome(probe.append(probe.fresh(), event('not-a-uuid'), ANY));
    await probe.until(() => thrown.length > 0, 3500);
    return {
      answer,
      thrownOutsideAnyPromise: [...thrown],
      nextAppend: await probe.outcome(probe.within(probe.append(probe.fresh(), event(randomUUID()), ANY), 4000)),
    };
  },
});
