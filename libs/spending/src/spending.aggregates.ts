import { defineAggregate, sharedStream } from '@app/kernel';
import { accountEvents } from './account/account.events';
import { accountIntegrations } from './account/account.integrations';
import { invocationsRecorded } from './invocations/invocation.events';
import { limitRegisterDecider } from './limits/limit-register.decider';
import { limitEvents } from './limits/limit.events';
import { restatementDecider } from './restatement/restatement.decider';
import { restatementEvents } from './restatement/restatement.events';

export const spendingAggregates = [
  defineAggregate(limitRegisterDecider, limitEvents, { kinds: { limit: sharedStream() } }),
  defineAggregate({ category: 'spendAccount' }, accountEvents, { integrations: accountIntegrations }),
  defineAggregate({ category: 'usage' }, [invocationsRecorded]),
  defineAggregate(restatementDecider, restatementEvents),
];

/** Every event of spending. */
export const spendingEvents = [...limitEvents, ...accountEvents, invocationsRecorded, ...restatementEvents];
