import { accountEvents } from './account/account.events';
import { invocationsRecorded } from './invocations/invocation.events';
import { limitEvents } from './limits/limit.events';
import { restatementEvents } from './restatement/restatement.events';

/** Every event of spending. */
export const spendingEvents = [...limitEvents, ...accountEvents, invocationsRecorded, ...restatementEvents];
