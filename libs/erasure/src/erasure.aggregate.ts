import { defineAggregate } from '@app/kernel';
import { erasureReceipt } from './erasure-receipt.decider';
import { ContentErased } from './erasure.events';

/** Receipts of erasures: `erasure-<id of the deletion event>`. */
export const erasureAggregate = defineAggregate(erasureReceipt, [ContentErased]);
