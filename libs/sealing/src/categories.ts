import { categoryOf } from '@app/kernel';
import { REMOVAL_STREAM } from './removal';
import { SEAL_STREAM } from './seal';

/** Categories of the streams of seals and of receipts of removals, for the catalogue. */
export const sealingCategories = [SEAL_STREAM, REMOVAL_STREAM].map(categoryOf);
