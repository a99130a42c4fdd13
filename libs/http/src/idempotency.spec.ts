import {
  AccessDenied,
  canonicalJson,
  InstanceSecret,
  isDomainError,
  type Json,
  TimeOrderedIds,
  Unavailable,
} from '@app/kernel';
import { FixedClock } from '../../../test/fixtures/fixed-clock';
import { MemoryCoordinationStore } from '../../../test/fixtures/memory-coordination-store';
import { until } from '../../../test/fixtures/until';
import { type Acceptance, digestOf, Idempotency } from './idempotency';

const keyring = {
  ensureKey: async () => Buffer.alloc(32),
  keys: async () => new Map([['agent-1', Buffer.alloc(32, 7)]]),
};

/** Two processes over one store; `dead` ones are heard of no more. */
const setUp = () => {
  const store = new MemoryCoordinationStore();
  const dead = new Set<string>();
  const warnings: string[] = [];
  const logger = { warn: (_: object, message: string) => void warnings.push(message) } as ConstructorParameters<
    typeof Idempotency
  >[6];
  const process = (id: string) =>
    new Idempotency(
      store,
      keyring,
      new InstanceSecret(Buffer.alloc(32, 2)),
      new FixedClock(),
      new TimeOrderedIds(),
      { id, alone: false, isAlive: (other) => !dead.has(other) },
      logger,
    );
  return { store, dead, warnings, first: process('a'), second: process('b') };
};
const ask = (process: Idempotency, body: object = {}, key = 'same') =>
  process.accept('key:1', key, 'POST /things', sent(JSON.stringify(body)));
/** Whether a request is let through, or given its answer. */
const isServed = (process: Idempotency, key?: string): Promise<boolean> =>
  ask(process, {}, key).then(
    () => true,
    (error: unknown) => {
      if (isDomainError(error, 'request_in_progress')) return false;
      throw error;
    },
  );
const sent = (text: string) => ({ digest: digestOf(Buffer.from(text)), value: JSON.parse(text) as unknown });

describe('an idempotency key over several processes', () => {
  it('runs in one at a time, and its answer is given again by the others', async () => {
    const { first, second } = setUp();
    const accepted = (await ask(first)) as Acceptance;
    await expect(ask(second)).rejects.toMatchObject({ code: 'request_in_progress' });
    await expect(ask(second, { other: true })).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    accepted.answered = { keyName: 'agent-1', body: '{"id":"1"}' };
    await first.settle(accepted, { status: 201, headers: { etag: '"0"' }, hasWritten: true });
    expect(await ask(second)).toEqual({ status: 201, headers: { etag: '"0"' }, body: '{"id":"1"}', stream: 'agent-1' });
  });

  it('runs under the same command id where the first process died', async () => {
    const { first, second, dead } = setUp();
    const accepted = (await ask(first)) as Acceptance;
    dead.add('a');
    expect(await ask(second)).toMatchObject({ commandId: accepted.commandId, answered: null });
  });

  it('runs under the same command id where it failed on our side', async () => {
    const { first, second } = setUp();
    const accepted = (await ask(first)) as Acceptance;
    await first.settle(accepted, { status: 503, headers: {}, hasWritten: false });
    expect(await ask(second)).toMatchObject({ commandId: accepted.commandId, answered: null });
    await expect(ask(first)).rejects.toMatchObject({ code: 'request_in_progress' });
  });

  it.each([
    [false, false],
    [true, true],
  ])(
    'that was rejected runs under the same command id only where it had written something: %s',
    async (hasWritten, isSame) => {
      const { first } = setUp();
      const accepted = (await ask(first)) as Acceptance;
      await first.settle(accepted, { status: 409, headers: {}, hasWritten });
      const again = (await ask(first)) as Acceptance;
      expect([again.commandId === accepted.commandId, again.again]).toEqual([isSame, isSame]);
    },
  );

  it('that is rejected when it is repeated runs under the same command id: what the first one did is not known', async () => {
    const { first } = setUp();
    const accepted = (await ask(first)) as Acceptance;
    await first.settle(accepted, { status: 503, headers: {}, hasWritten: false });
    const again = (await ask(first)) as Acceptance;
    await first.settle(again, { status: 409, headers: {}, hasWritten: false });
    expect(((await ask(first)) as Acceptance).commandId).toBe(accepted.commandId);
  });

  describe('while the store is slow', () => {
    const late = new Unavailable('coordination', 'no answer', 'unknown');
    /** Writes are carried out, or not, and not answered; so many of them. */
    const unanswered = (store: MemoryCoordinationStore, times: number, stands = true) => {
      const write = store.write.bind(store);
      let left = times;
      store.write = async (...given) => {
        if (left === 0) return write(...given);
        left -= 1;
        if (stands) await write(...given);
        throw late;
      };
      return { areOver: () => left === 0 };
    };

    it.each([true, false])(
      'has done nothing where it was not confirmed, and runs in any process then; it stands: %s',
      async (stands) => {
        const { store, first, second } = setUp();
        unanswered(store, 1, stands);
        await expect(ask(first)).rejects.toMatchObject({ name: 'Unavailable', outcome: 'none' });
        await new Promise(setImmediate);
        expect(await ask(second)).toMatchObject({ answered: null });
      },
    );

    it('may have been done where a repeat is not confirmed, and runs in any process then', async () => {
      const { store, first, second } = setUp();
      const accepted = (await ask(first)) as Acceptance;
      await first.settle(accepted, { status: 503, headers: {}, hasWritten: true });
      unanswered(store, 1);
      await expect(ask(first)).rejects.toMatchObject({ name: 'Unavailable', outcome: 'unknown' });
      await new Promise(setImmediate);
      expect(await ask(second)).toMatchObject({ commandId: accepted.commandId });
    });

    it('may have been done where a repeat is not served, by the store or by the vault of its answer', async () => {
      const { store, first } = setUp();
      const accepted = (await ask(first)) as Acceptance;
      await first.settle(accepted, { status: 503, headers: {}, hasWritten: true });
      jest.spyOn(store, 'write').mockRejectedValueOnce(new Unavailable('coordination', 'no answer'));
      await expect(ask(first)).rejects.toMatchObject({ name: 'Unavailable', outcome: 'unknown' });
      const again = (await ask(first)) as Acceptance;
      again.answered = { keyName: 'agent-1', body: '{"id":"1"}' };
      await first.settle(again, { status: 201, headers: {}, hasWritten: true });
      jest.spyOn(keyring, 'keys').mockRejectedValueOnce(new AccessDenied('vault', 'no rights'));
      await expect(ask(first)).rejects.toMatchObject({ name: 'Unavailable', outcome: 'unknown' });
      expect(await ask(first)).toMatchObject({ status: 201, body: '{"id":"1"}' });
    });

    it('is released once the store answers again, and nothing says that it was not', async () => {
      const { store, first, second, warnings } = setUp();
      const accepted = (await ask(first)) as Acceptance;
      const { areOver } = unanswered(store, 2, false);
      first.release(accepted);
      await until(areOver);
      await until(() => isServed(second));
      expect(warnings).toEqual([]);
    });

    it('is not released any more where it runs here again by then', async () => {
      const { store, first, second } = setUp();
      const [accepted, later] = [await ask(first), await ask(first, {}, 'later')] as [Acceptance, Acceptance];
      const { areOver } = unanswered(store, 2, false);
      first.release(accepted);
      first.release(later);
      await until(areOver);
      expect(await ask(first)).toMatchObject({ commandId: accepted.commandId, again: true });
      await until(() => isServed(second, 'later'));
      await expect(ask(second)).rejects.toMatchObject({ code: 'request_in_progress' });
    });

    it('is answered before the answer is kept, and a repeat is given it once that is', async () => {
      const { store, first, second } = setUp();
      const accepted = (await ask(first)) as Acceptance;
      accepted.answered = { keyName: 'agent-1', body: '{"id":"1"}' };
      const write = store.write.bind(store);
      const answers: (() => void)[] = [];
      store.write = async (...given) => {
        await new Promise<void>((resolve) => answers.push(resolve));
        return write(...given);
      };
      await first.settle(accepted, { status: 201, headers: {}, hasWritten: true });
      first.release(accepted);
      for (const process of [first, second])
        await expect(ask(process)).rejects.toMatchObject({ code: 'request_in_progress' });
      for (const answer of answers) answer();
      await until(() => isServed(first));
      for (const process of [first, second])
        expect(await ask(process)).toMatchObject({ status: 201, body: '{"id":"1"}' });
    });
  });

  it.each([
    ['fails', new Error('no space left')],
    ['rejects its user', new AccessDenied('coordination', 'no rights', 'unknown')],
  ])('says so when it cannot be released, since the store %s', async (_, error) => {
    const { store, first, warnings } = setUp();
    const accepted = (await ask(first)) as Acceptance;
    jest.spyOn(store, 'write').mockRejectedValue(error);
    first.release(accepted);
    await new Promise(setImmediate);
    expect(warnings).toEqual([expect.stringMatching(/Releasing a request failed/)]);
  });

  it('says so when the store stays away for so long that it is not released any more', async () => {
    const { store, first, warnings } = setUp();
    const accepted = (await ask(first)) as Acceptance;
    const writes = jest.spyOn(store, 'write').mockRejectedValue(new Unavailable('coordination', 'no answer'));
    const overAtOnce = jest.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(AbortSignal.abort());
    first.release(accepted);
    await until(() => warnings.length > 0);
    expect([writes.mock.calls.length, overAtOnce.mock.calls]).toEqual([1, [[300_000]]]);
    overAtOnce.mockRestore();
  });

  it('tells bodies apart by their bytes, and takes none of them apart for that', async () => {
    const { first } = setUp();
    const unreadable = {
      toJSON: () => {
        throw new Error('the values were read');
      },
    };
    const accept = (text: string) =>
      first.accept('key:1', 'same', 'POST /things', { digest: digestOf(Buffer.from(text)), value: unreadable });
    await accept('{"a":1,"b":2}');
    await expect(accept('{"a":1,"b":2}')).rejects.toMatchObject({ code: 'request_in_progress' });
    await expect(accept('{"b":2,"a":1}')).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  });

  it('still knows requests that 1.5.0 has remembered, by their values', async () => {
    const { store, first, second } = setUp();
    const accepted = (await ask(first, { b: 2, a: 1 })) as Acceptance;
    await first.settle(accepted, { status: 503, headers: {}, hasWritten: false });
    const hash = new InstanceSecret(Buffer.alloc(32, 2)).hash(
      'command',
      canonicalJson(['POST /things', { a: 1, b: 2 }]),
    );
    const stored = (await store.read(accepted.name)) as Record<string, Json>;
    await store.write(accepted.name, { ...stored, hash });
    await expect(ask(second, { a: 1, b: 3 })).rejects.toMatchObject({ code: 'idempotency_key_reused' });
    expect(await ask(second, { a: 1, b: 2 })).toMatchObject({ commandId: accepted.commandId, hash });
  });
});
