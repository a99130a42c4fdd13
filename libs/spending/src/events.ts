import { accountEvents } from './account/account.events';
import { invocationsRecorded } from './invocations/invocation.events';
import { limitRegisterDecider } from './limits/limit-register.decider';
import { limitEvents } from './limits/limit.events';
import { restatementDecider } from './restatement/restatement.decider';
import { restatementEvents } from './restatement/restatement.events';

/** Categories of the streams of spending, for the catalogue. */
export const spendingCategories = [limitRegisterDecider.category, 'spendAccount', 'usage', restatementDecider.category];

/** Every event of spending. */
export const spendingEvents = [...limitEvents, ...accountEvents, invocationsRecorded, ...restatementEvents];
