import { agentChange, agentConfig } from '@app/agents';
import { type AgentRow, agentRow } from '@projections/agents';
import { agentVersionRow } from '@projections/agent-versions';
import { z } from 'zod';
import { listQuery, presenter } from '../../http';

export const newAgent = agentChange.extend({ name: agentConfig.shape.name, spaceId: z.uuid().optional() });
export { agentChange };
export const promptChange = agentConfig.pick({ systemPrompt: true });

export const agentsQuery = listQuery({ spaceId: z.uuid().optional() });
export const versionsQuery = listQuery({});

export const agentView = presenter<AgentRow>(agentRow);
export const versionView = presenter(agentVersionRow.omit({ agentId: true }));
