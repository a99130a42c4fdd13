import { agentDecider } from '@app/agents';
import { conversationDecider } from '@app/conversations';
import { erasables } from '@app/erasure';
import { AdminRegister, userDecider } from '@app/identity';
import { categoryOf, type Clock, type CommandMeta, type Decisions, idOf, type Ids, isDomainError } from '@app/kernel';
import { documentDecider } from '@app/knowledge';
import { promptDecider, spaceDecider } from '@app/spaces';
import type { Stores } from './open-stores';

const PAGE = 500;
const CONCURRENCY = 50;
/** Stands beside the views, which a restore leaves empty: so this is done once after each. */
const DONE = 'erasures-finished';

export interface FinishErasuresParts {
  readonly stores: Pick<Stores, 'decisions' | 'log' | 'vault' | 'readStore'>;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly logger: { warn(facts: object, message: string): void };
}

type Deletion = (id: string, meta: CommandMeta) => Promise<unknown>;

/**
 * Deletes again what a restored log shows as living though the vault knows that it was erased after the backup: its
 * content cannot come back, and its husk must not. What belongs to it goes by the policies, as at any deletion.
 */
export const finishErasures = async ({ stores, ids, clock, logger }: FinishErasuresParts): Promise<void> => {
  const { log, vault, readStore } = stores;
  if ((await readStore.readState(DONE)) !== undefined) return;
  const deletions = deletionsBy(stores.decisions);
  const finish = async (thing: string): Promise<void> => {
    const remove = deletions[categoryOf(thing)];
    const [last] = remove === undefined ? [] : await log.readStream(thing, { direction: 'backwards', limit: 1 });
    if (remove === undefined || last === undefined || last.type in erasables) return;
    const commandId = ids.next();
    logger.warn({ thing }, 'erased after the backup that was restored: it is deleted again');
    await remove(idOf(thing), { commandId, correlationId: commandId, actor: 'system:restore', now: clock.now() }).catch(unlessGone);
  };
  for (let after: string | null = null; ; ) {
    const page = await vault.destroyed(after, PAGE);
    for (let from = 0; from < page.length; from += CONCURRENCY) await Promise.all(page.slice(from, from + CONCURRENCY).map(({ thing }) => finish(thing)));
    if (page.length < PAGE) break;
    after = page.at(-1)?.thing ?? null;
  }
  await readStore.writeState(DONE, clock.now().toISOString());
};

const deletionsBy = (decisions: Decisions): Readonly<Record<string, Deletion | undefined>> => {
  const admins = new AdminRegister(decisions);
  return {
    user: async (id, meta) => decisions.transact(userDecider, id, { type: 'Delete', ...(await admins.appointmentFor(id, { status: 'deleted' }, meta)) }, meta),
    space: (id, meta) => decisions.transact(spaceDecider, id, { type: 'Delete', withUser: true }, meta),
    prompt: (id, meta) => decisions.transact(promptDecider, id, { type: 'Delete' }, meta),
    agent: (id, meta) => decisions.transact(agentDecider, id, { type: 'Delete', withSpace: true }, meta),
    document: (id, meta) => decisions.transact(documentDecider, id, { type: 'Delete' }, meta),
    conversation: (id, meta) => decisions.transact(conversationDecider, id, { type: 'Remove' }, meta),
  };
};

/** The policies of the Space or user that it belongs to may be faster. */
const unlessGone = (error: unknown): void => {
  if (!isDomainError(error, 'not_found')) throw error;
};
