import { Access, AccessModule, Authenticator } from '@app/access';
import { AgentsModule, ToolSecrets } from '@app/agents';
import { AGENT_SKILLS, AGENT_TOOLS, type AgentSkills, RETRIEVER } from '@app/conversations';
import { CONFIG, type Config, LOGGER, provideWith } from '@app/kernel';
import { LoadableSkills, SkillsModule } from '@app/skills';
import { HttpCaller } from '@app/tools';
import { Global, Module } from '@nestjs/common';
import { ToolsOfAgents, type ToolsParts } from './agent-tools';

interface ModuleParts extends Omit<ToolsParts, 'http'> {
  readonly config: Config;
}

const toolsOfAgents = ({ config, ...parts }: ModuleParts): ToolsOfAgents =>
  new ToolsOfAgents({ ...parts, http: new HttpCaller({ privateHosts: config.TOOL_PRIVATE_HOSTS ?? [] }) });

/** What conversations ask of Agents, Skills, Knowledge and HTTP APIs, which they do not import. */
@Global()
@Module({
  imports: [AccessModule, AgentsModule, SkillsModule],
  providers: [
    provideWith(AGENT_TOOLS, toolsOfAgents, {
      access: Access,
      authenticator: Authenticator,
      secrets: ToolSecrets,
      retriever: RETRIEVER,
      config: CONFIG,
      logger: LOGGER,
    }),
    { provide: AGENT_SKILLS, inject: [LoadableSkills], useFactory: (skills: LoadableSkills): AgentSkills => skills },
  ],
  exports: [AGENT_SKILLS, AGENT_TOOLS],
})
export class AgentToolsModule {}
