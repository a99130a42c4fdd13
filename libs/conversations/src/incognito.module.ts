import { Processes } from '@app/coordination';
import { type Clock, CLOCK, CONFIG, type Config, InstanceSecret, LOGGER, provideWith } from '@app/kernel';
import { Models } from '@app/models';
import { type Metering, METERING, SpendingModule } from '@app/spending';
import { Module } from '@nestjs/common';
import { Answerer } from './answering/answerer';
import { RETRIEVER, type Retriever } from './answering/retriever';
import { AGENT_SKILLS, type AgentSkills } from './answering/skills';
import { TurnBeginnings } from './answering/turn-beginnings';
import { AGENT_TOOLS, type AgentTools } from './answering/tools';
import { IncognitoConversations } from './incognito/incognito-conversations';
import { IncognitoIds } from './incognito/incognito-ids';
import { IncognitoEndings } from './incognito-endings';

interface Parts {
  readonly ids: IncognitoIds;
  readonly models: Models;
  readonly retriever: Retriever;
  readonly tools: AgentTools;
  readonly skills?: AgentSkills | undefined;
  readonly metering: Metering;
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: { warn(facts: object, message: string): void };
}

const conversations = ({ ids, clock, config, skills, ...parts }: Parts): IncognitoConversations =>
  new IncognitoConversations({
    ids,
    clock,
    answerer: new Answerer({
      ...parts,
      beginnings: new TurnBeginnings({ ...parts, skills, catalogTokens: config.SKILL_CATALOG_TOKENS }),
      currency: config.DEFAULT_CURRENCY,
    }),
  });

/** Incognito conversations: what answers them, and nothing that keeps anything. */
@Module({
  imports: [SpendingModule],
  providers: [
    {
      provide: IncognitoIds,
      inject: [InstanceSecret, Processes],
      useFactory: (secret: InstanceSecret, { id }: Processes) => new IncognitoIds(secret, id),
    },
    provideWith(IncognitoConversations, conversations, {
      ids: IncognitoIds,
      models: Models,
      retriever: RETRIEVER,
      tools: AGENT_TOOLS,
      skills: { token: AGENT_SKILLS, optional: true },
      metering: METERING,
      config: CONFIG,
      clock: CLOCK,
      logger: LOGGER,
    }),
    IncognitoEndings,
  ],
  exports: [IncognitoConversations, IncognitoIds],
})
export class IncognitoModule {}
