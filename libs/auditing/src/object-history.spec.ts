import { ERASED, type RecordedEvent } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import { z } from 'zod';
import { historyOf, objectAfter, type ObjectView } from './object-history';

const lamps: RowProjection = {
  kind: 'rows',
  name: 'lamps',
  version: 1,
  types: ['LampInstalled', 'LampSwitched', 'RoomPainted', 'LampRemoved', 'RoomEmptied'],
  row: z.strictObject({ id: z.string(), room: z.string(), on: z.boolean(), switched: z.number(), walls: z.string() }),
  indexes: [{ name: 'room', fields: [{ field: 'room' }] }],
  apply: ({ type, data }) => {
    const { lamp, room, on, colour } = data as { lamp: string; room: string; on: boolean; colour: string };
    if (type === 'LampInstalled')
      return [{ op: 'put', key: lamp, row: { id: lamp, room, on: false, switched: 0, walls: 'white' } }];
    if (type === 'LampSwitched')
      return [
        { op: 'patch', key: lamp, fields: { on } },
        { op: 'increment', key: lamp, field: 'switched', by: 1 },
      ];
    if (type === 'RoomPainted') return [{ op: 'patchWhere', where: { room }, fields: { walls: colour } }];
    return type === 'LampRemoved' ? [{ op: 'remove', key: lamp }] : [{ op: 'removeWhere', where: { room } }];
  },
};
const view: ObjectView = {
  projection: lamps,
  key: 'l1',
  present: ({ on, switched, walls }) => ({ on: on ?? null, switched: switched ?? null, walls: walls ?? null }),
};

const log = (...events: readonly [type: string, data: Record<string, unknown>][]): RecordedEvent[] =>
  events.map(([type, data], index) => ({
    type,
    data,
    context: {
      position: `0${index}`,
      recordedAt: `2026-01-01T00:00:0${index}.000Z`,
      actor: 'user:u1',
    } as RecordedEvent['context'],
  }));

const installed: [string, Record<string, unknown>] = ['LampInstalled', { lamp: 'l1', room: 'r1' }];

const all = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
};

describe('the state of an object as of a point in the log', () => {
  it('is the row that the view would hold then', async () => {
    const events = log(
      installed,
      ['LampSwitched', { lamp: 'l1', on: true }],
      ['RoomPainted', { room: 'r1', colour: 'green' }],
      ['LampSwitched', { lamp: 'l1', on: false }],
    );
    expect((await objectAfter(view, events.slice(0, 3))).shown).toEqual({ on: true, switched: 1, walls: 'green' });
    expect((await objectAfter(view, events)).shown).toEqual({ on: false, switched: 2, walls: 'green' });
  });

  it('does not exist before its creation, nor after its removal', async () => {
    expect(await objectAfter(view, [])).toEqual({ shown: null });
    for (const [type, data] of [
      ['LampRemoved', { lamp: 'l1' }],
      ['RoomEmptied', { room: 'r1' }],
    ] as const) {
      const events = log(
        installed,
        ['LampSwitched', { lamp: 'l1', on: true }],
        [type, data],
        ['RoomPainted', { room: 'r1', colour: 'green' }],
      );
      const [, before, last] = events.map(({ context }) => context);
      const removed = { type, at: last?.recordedAt, before: before?.position };
      expect(await objectAfter(view, events)).toEqual({ shown: null, removed });
      expect(await objectAfter(view, [...events, ...log(installed)])).toEqual({
        shown: { on: false, switched: 0, walls: 'white' },
      });
    }
    expect(await objectAfter(view, log(installed, ['RoomEmptied', { room: 'r2' }]))).toMatchObject({
      shown: { on: false },
    });
  });

  it('passes over events that the view does not read', async () => {
    expect((await objectAfter(view, log(installed, ['LampDusted', { lamp: 'l1' }]))).shown).toEqual({
      on: false,
      switched: 0,
      walls: 'white',
    });
  });
});

describe('the history of an object', () => {
  it('lists what each event changed, and who did it when', async () => {
    expect(
      await all(
        historyOf(
          view,
          log(installed, ['LampSwitched', { lamp: 'l2', on: true }], ['LampSwitched', { lamp: 'l1', on: true }]),
        ),
      ),
    ).toEqual([
      {
        position: '00',
        at: '2026-01-01T00:00:00.000Z',
        actor: 'user:u1',
        type: 'LampInstalled',
        changes: [
          { path: 'on', before: null, after: false },
          { path: 'switched', before: null, after: 0 },
          { path: 'walls', before: null, after: 'white' },
        ],
      },
      {
        position: '02',
        at: '2026-01-01T00:00:02.000Z',
        actor: 'user:u1',
        type: 'LampSwitched',
        changes: [
          { path: 'on', before: false, after: true },
          { path: 'switched', before: 0, after: 1 },
        ],
      },
    ]);
  });

  it('survives the object and shows erased content as erased', async () => {
    const items = await all(
      historyOf(view, log(installed, ['RoomPainted', { room: 'r1', colour: ERASED }], ['LampRemoved', { lamp: 'l1' }])),
    );
    expect(items.map(({ type }) => type)).toEqual(['LampInstalled', 'RoomPainted', 'LampRemoved']);
    expect(items[1]?.changes).toEqual([{ path: 'walls', before: 'white', after: { erased: true } }]);
  });
});
