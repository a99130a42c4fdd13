import * as fc from 'fast-check';
import { decidesOnce, given } from '../../../kernel/src/decider.contract';
import { type BucketCommand, bucketDecider, countOf, type TakePlace } from './bucket.decider';
import type { BucketEvent } from './bucket.events';

const taking = (memoryId: string, more: Partial<TakePlace> = {}): TakePlace => ({
  type: 'Take',
  agentId: 'a1',
  userId: null,
  kind: 'shared',
  memoryId,
  ticket: `ticket-${memoryId}`,
  hash: `hash-${memoryId}`,
  replaces: null,
  use: 'confirm',
  screening: { version: '1' },
  most: 2,
  ...more,
});
const taken = (memoryId: string, more: Partial<TakePlace> = {}): BucketEvent => {
  const { type: _, most: _most, ...data } = taking(memoryId, more);
  return { type: 'MemoryPlaceTaken', data };
};
const noting = (memoryId: string, more: Partial<TakePlace> = {}): BucketCommand => {
  const { use: _use, replaces: _replaces, most: _most, ...noted } = taking(memoryId, more);
  return { ...noted, type: 'Note' };
};
const released = (memoryIds: string[], ticket: string | null = null): BucketEvent => ({
  type: 'MemoryPlaceReleased',
  data: { memoryIds, ticket },
});

describe('a bucket', () => {
  it('gives a place to a memory until it is full', () => {
    given(bucketDecider, taken('m1')).when(taking('m2')).yields(taken('m2'));
    given(bucketDecider, taken('m1'), taken('m2'))
      .when(taking('m3'))
      .rejects('memory_full', { kind: 'shared', limit: 2 });
    given(bucketDecider, taken('m1'), taken('m2'), released(['m1']))
      .when(taking('m3'))
      .yields(taken('m3'));
  });

  it('gives a place to so many proposals that wait', () => {
    const waiting = (memoryId: string): Partial<TakePlace> => ({
      use: 'propose',
      userId: 'u1',
      hash: `text-${memoryId}`,
    });
    given(bucketDecider, taken('m1', waiting('m1')))
      .when(taking('m2', waiting('m2')))
      .yields(taken('m2', waiting('m2')));
    given(bucketDecider, taken('m1', waiting('m1')), taken('m2', waiting('m2')))
      .when(taking('m3', waiting('m3')))
      .rejects('memory_full', { kind: 'proposed', limit: 2 });
  });

  it('has a text once', () => {
    given(bucketDecider, taken('m1'))
      .when(taking('m2', { hash: 'hash-m1' }))
      .rejects('conflict', { reason: 'equal_memory', id: 'm1' });
  });

  it('has the text before and the one to come while a memory is edited, until it is noted which it has', () => {
    const edit = { hash: 'anew', use: 'edit', ticket: 't2' } as const;
    const edited = [taken('m1'), taken('m1', edit)];
    for (const hash of ['hash-m1', 'anew'])
      given(bucketDecider, ...edited)
        .when(taking('m2', { hash }))
        .rejects('conflict', { reason: 'equal_memory', id: 'm1' });
    for (const [hash, free] of [
      ['anew', 'hash-m1'],
      ['hash-m1', 'anew'],
    ] as const) {
      const noted = taken('m1', { ...edit, hash, use: 'note' });
      given(bucketDecider, ...edited)
        .when(noting('m1', { ticket: 't2', hash }))
        .yields(noted);
      const over = given(bucketDecider, ...edited, noted);
      over.when(noting('m1', { ticket: 't2', hash })).yields();
      over.when(taking('m2', { hash })).rejects('conflict', { reason: 'equal_memory', id: 'm1' });
      over.when(taking('m2', { hash: free })).yields(taken('m2', { hash: free }));
    }
  });

  it('has the text of an edit that is under way when another one is over', () => {
    const one = { hash: 'one', use: 'edit', ticket: 't2' } as const;
    const other = { hash: 'other', use: 'edit', ticket: 't3' } as const;
    const over = given(
      bucketDecider,
      taken('m1'),
      taken('m1', one),
      taken('m1', other),
      taken('m1', { ...one, use: 'note' }),
    );
    for (const hash of ['one', 'other'])
      over.when(taking('m2', { hash })).rejects('conflict', { reason: 'equal_memory', id: 'm1' });
    over.when(taking('m2', { hash: 'hash-m1' })).yields(taken('m2', { hash: 'hash-m1' }));
  });

  it('has a text once also where one is changed to it, but notes what a memory has', () => {
    const edit = { hash: 'hash-m1', use: 'edit', ticket: 't2' } as const;
    const noted = noting('m2', { hash: 'hash-m1', ticket: 't2' });
    const both = given(bucketDecider, taken('m1'), taken('m2'));
    both.when(taking('m2', edit)).rejects('conflict', { reason: 'equal_memory', id: 'm1' });
    both.when(noted).yields(taken('m2', { ...edit, use: 'note' }));
    both.when(taking('m2', { use: 'edit', ticket: 't2' })).yields();
    both.when(noting('m2', { ticket: 't2' })).yields();
    given(bucketDecider).when(noted).yields();
  });

  it('gives the place of one memory to another, once, also when it is full', () => {
    const full = [taken('m1'), taken('m2')];
    const replacing = taken('m3', { replaces: 'm1' });
    given(bucketDecider, ...full)
      .when(taking('m3', { replaces: 'm1' }))
      .yields(replacing);
    const both = given(bucketDecider, ...full, replacing);
    expect(countOf(both.state.places)).toBe(2);
    both.when(taking('m4', { replaces: 'm1' })).rejects('conflict', { reason: 'memory_replaced' });
    both.when(taking('m4')).rejects('memory_full');
    const after = given(bucketDecider, ...full, replacing, released(['m1']));
    expect(countOf(after.state.places)).toBe(2);
    after.when(taking('m4')).rejects('memory_full');
    expect(countOf(given(bucketDecider, ...full, replacing, released(['m3'])).state.places)).toBe(2);
    given(bucketDecider, ...full)
      .when(taking('m3', { replaces: 'gone' }))
      .rejects('not_found');
  });

  it('keeps a place as long as one of the requests that took it has not given it back', () => {
    const twice = [taken('m1'), taken('m1', { ticket: 't2' })];
    given(bucketDecider, ...twice)
      .when({ type: 'Release', memoryIds: ['m1'], ticket: 't2' })
      .yields(released(['m1'], 't2'));
    expect(given(bucketDecider, ...twice, released(['m1'], 't2')).state.places.size).toBe(1);
    expect(
      given(bucketDecider, ...twice, released(['m1'], 't2'), released(['m1'], 'ticket-m1')).state.places.size,
    ).toBe(0);
    expect(given(bucketDecider, ...twice, released(['m1'])).state.places.size).toBe(0);
  });

  it('takes no place for a late edit of what is gone', () => {
    given(bucketDecider)
      .when(taking('m1', { use: 'edit' }))
      .yields();
  });

  it('decides a command once, and never has more places than it may', () => {
    const id = fc.constantFrom('m1', 'm2', 'm3', 'm4');
    const commands: fc.Arbitrary<BucketCommand> = fc.oneof(
      fc
        .record({ memoryId: id, hash: fc.constantFrom('h1', 'h2', 'h3'), ticket: fc.constantFrom('t1', 't2') })
        .chain((some) =>
          fc
            .option(id, { nil: null })
            .map((replaces) =>
              taking(some.memoryId, { ...some, replaces: replaces === some.memoryId ? null : replaces }),
            ),
        ),
      fc.record({
        type: fc.constant('Release' as const),
        memoryIds: fc.array(id, { minLength: 1, maxLength: 2 }),
        ticket: fc.constantFrom(null, 't1', 't2'),
      }),
    );
    decidesOnce(bucketDecider, commands);
  });
});
