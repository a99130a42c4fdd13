import type { AgentAccess } from '@app/access';
import type { AnsweringAgent } from '@app/conversations';
import { isErased } from '@app/kernel';
import type { Sampling } from '@app/models';

/** What answers depend on, of an Agent as it is now. */
export const answeringAgent = ({ agentId, spaceId, agent }: AgentAccess): AnsweringAgent => {
  const { model, systemPrompt, knowledgeEnabled, memoryEnabled, sharedMemoryEnabled, sampling } = agent.version.config;
  const { temperature, topP, topK } = sampling;
  const values: Sampling = {
    ...valueOf('temperature', temperature),
    ...valueOf('topP', topP),
    ...valueOf('topK', topK),
  };
  return {
    agentId,
    spaceId,
    model,
    systemPrompt: isErased(systemPrompt) ? '' : systemPrompt,
    knowledgeEnabled,
    sampling: values,
    // Public Agents have it switched off.
    ...(memoryEnabled ? { memory: { shared: sharedMemoryEnabled && !agent.isPersonal } } : {}),
    revisions: { agent: agent.version.revision, prompt: agent.promptRevision },
  };
};

/** A switched-off control, or one without a value, is the model's own business. */
const valueOf = (
  name: keyof Sampling,
  { enabled, value }: { readonly enabled: boolean; readonly value: number | null },
): Sampling => (enabled && value !== null ? { [name]: value } : {});
