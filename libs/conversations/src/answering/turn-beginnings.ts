import { callsTools } from '@app/models';
import type { MessagePart } from '../conversation/message-parts';
import type { AnsweringAgent, AnsweringModels } from './answering';
import { type BranchContext, skillsLoadedIn } from './branch-context';
import type { History } from './history';
import type { AgentMemories } from './memories';
import type { TurnToRun } from './running-turns';
import type { AgentSkills } from './skills';
import { TurnMemories } from './turn-memories';
import { loadedIn, TurnSkills } from './turn-skills';

export interface TurnBeginningsParts {
  readonly models: Pick<AnsweringModels, 'catalogue'>;
  /** Absent: nobody has any. */
  readonly skills?: AgentSkills | undefined;
  readonly memories?: AgentMemories | undefined;
  /** Where memories find what a user said. Absent: nothing is kept. */
  readonly history?: Pick<History, 'saidByUser'> | undefined;
  /** `SKILL_CATALOG_TOKENS`. */
  readonly catalogTokens: number;
  readonly logger: { warn(facts: object, message: string): void };
}

/** What a turn begins with, and keeps until its answer is finished. */
export interface TurnBeginning {
  readonly skills: TurnSkills;
  readonly memories: TurnMemories;
}

/** Finds the Skills and memories that turns begin with. */
export class TurnBeginnings {
  constructor(private readonly parts: TurnBeginningsParts) {}

  /** Of a turn whose question ends a branch. */
  async of({ ids, agent, requester, from, memory }: TurnToRun, context: BranchContext): Promise<TurnBeginning> {
    const { memories: port, history, logger } = this.parts;
    const question = saidIn(context.newestFirst[0]?.parts ?? []);
    const said = from?.parts ?? [];
    const began = from?.paused?.began;
    const loaded = [...context.skillIds, ...skillsLoadedIn(context.newestFirst), ...loadedIn(said)];
    const [skills, memories] = await Promise.all([
      this.skillsOf(agent, { question, loaded, began: began?.skills }),
      memory === 'off'
        ? TurnMemories.off
        : TurnMemories.begin(
            { port, logger },
            {
              agent,
              userId: requester.userId,
              conversationId: ids.conversationId,
              answerId: ids.answerId,
              question,
              saidByUser: async () => (await history?.saidByUser(ids.conversationId, ids.messageId))?.map(saidIn) ?? [],
              proposed: said.filter(({ type }) => type === 'data-memory').length,
              began,
            },
          ),
    ]);
    return { skills, memories };
  }

  /** Of a turn that nothing of is kept. */
  async incognito(agent: AnsweringAgent, question: string): Promise<TurnBeginning> {
    return { skills: await this.skillsOf(agent, { question, loaded: [] }), memories: TurnMemories.off };
  }

  private skillsOf(agent: AnsweringAgent, given: Omit<Parameters<typeof TurnSkills.begin>[1], 'agent'>) {
    const { models, skills: port, catalogTokens, logger } = this.parts;
    const model = models.catalogue.models.get(agent.model ?? models.catalogue.defaultModel);
    return model !== undefined && callsTools(model)
      ? TurnSkills.begin({ port, logger, catalogTokens }, { agent, ...given })
      : TurnSkills.none();
  }
}

/** The user's own words, without the content of files. */
const saidIn = (parts: readonly MessagePart[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
