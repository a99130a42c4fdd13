import { defineAggregate } from '@app/kernel';
import { ContentErased } from './erasure.events';

/** Receipts of erasures: `erasure-<id of the deletion event>`. */
export const erasureAggregate = defineAggregate({ category: 'erasure' }, [ContentErased]);
