import { idOf, type RecordedEvent } from '@app/kernel';
import { type ModelEvent, recordedModel } from '@app/models';
import type { RowProjection } from '@app/projecting';
import { z } from 'zod';

/** A model as the catalogue described it. */
export const modelRow = recordedModel.extend({ key: z.string(), revision: z.number().int() });

/** Models while the catalogue has them. Folded for auditors: the API shows the catalogue itself, so no process keeps this view. */
export const models: RowProjection = {
  kind: 'rows',
  name: 'models',
  version: 1,
  types: ['ModelOffered', 'ModelWithdrawn'],
  row: modelRow,
  indexes: [],
  apply: (recorded) => {
    const event = recorded as RecordedEvent<ModelEvent>;
    const key = idOf(event.context.stream);
    return [
      event.type === 'ModelOffered'
        ? { op: 'put', key, row: { key, ...event.data, revision: event.context.revision } }
        : { op: 'remove', key },
    ];
  },
};
