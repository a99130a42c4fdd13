import { Failure } from '../exit-codes';
import type { PlatformClient } from '../platform-client';
import type { Steps } from './steps';

const WRITTEN_BY_NOW = 'Guide to the documents';

interface Agent {
  readonly name: string;
  readonly sampling: { readonly temperature: { readonly enabled: boolean; readonly value: number | null } };
}

interface HistoryItem {
  readonly position: string;
  readonly at: string;
  readonly actor: string;
  readonly type: string;
  readonly changes: readonly { readonly path: string; readonly before: unknown; readonly after: unknown }[];
}

/** Changes the Agent, then shows its history and what it was before the change. */
export const showPast = async (api: PlatformClient, agentId: string, steps: Steps): Promise<void> => {
  const agent = `/api/v1/core/agents/${agentId}`;
  const audited = `/api/v1/audit/objects/agent/${agentId}`;
  const before: Agent = await api.json(agent);
  await api.json(agent, {
    method: 'PUT',
    body: { name: WRITTEN_BY_NOW, sampling: { temperature: { enabled: true, value: 0.2 } } },
  });

  const history: HistoryItem[] = [];
  for await (const item of api.list<HistoryItem>(`${audited}/history`)) history.push(item);
  for (const { at, type, actor, changes } of history) {
    steps.say(`${at}  ${type}  by ${actor}`);
    for (const { path, before: from, after: to } of changes.slice(0, 4))
      steps.say(`    ${path}: ${short(from)} -> ${short(to)}`);
    if (changes.length > 4) steps.say(`    and ${changes.length - 4} more`);
  }

  const [created] = history.toSorted((a, b) => (a.position < b.position ? -1 : 1));
  if (created === undefined) throw new Failure('The Agent has no history.');
  const then: Agent = await api.json(audited, { query: { at: created.position } });
  const now: Agent = await api.json(agent);
  steps.say(`as of position ${created.position} it was called "${then.name}"; now it is "${now.name}"`);
  if (then.name !== before.name || now.name !== WRITTEN_BY_NOW)
    throw new Failure(`The earlier state should read "${before.name}", and the current one "${WRITTEN_BY_NOW}".`);
};

const short = (value: unknown): string => {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}...` : text;
};
