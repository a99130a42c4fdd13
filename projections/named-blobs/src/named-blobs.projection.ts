import { type EventDefinition, idOf, textsAt } from '@app/kernel';
import type { RowProjection } from '@app/projecting';
import { z } from 'zod';

/** The name of the view. */
export const NAMED_BLOBS = 'named-blobs';

/** A blob that an event names, by its name. `documentId`: the id in the stream that names it. */
export const namedBlobRow = z.object({ documentId: z.string() });

/** The blobs that events name and no later one released: any other is a leftover, which the sweep removes. */
export const namedBlobs = (events: readonly EventDefinition[]): RowProjection => {
  const fields = new Map(events.map(({ type, blobs }) => [type, blobs]));
  return {
    kind: 'rows',
    name: NAMED_BLOBS,
    version: 1,
    types: [...fields.keys()],
    row: namedBlobRow,
    indexes: [],
    apply: ({ type, data, context }) => {
      const row = { documentId: idOf(context.stream) };
      const { held = [], released = [] } = fields.get(type) ?? {};
      return [
        ...held.flatMap((path) => textsAt(data, path)).map((key) => ({ op: 'put' as const, key, row })),
        ...released.flatMap((path) => textsAt(data, path)).map((key) => ({ op: 'remove' as const, key })),
      ];
    },
  };
};
