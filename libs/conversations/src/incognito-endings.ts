import { EVENT_LOG } from '@app/event-log';
import { isDeleted, LOGGER, type StreamReader } from '@app/kernel';
import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { IncognitoConversations } from './incognito/incognito-conversations';

/** Look for conversations that have ended this often. */
const EVERY_MS = 3_000;

/** Ends the incognito conversations of this process that are old, and those whose user or Agent was deleted: no policy knows of them. */
@Injectable()
export class IncognitoEndings implements OnModuleInit, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private look: Promise<void> | undefined;

  constructor(
    private readonly conversations: IncognitoConversations,
    @Inject(EVENT_LOG) private readonly log: StreamReader,
    @Inject(LOGGER) private readonly logger: { warn(facts: object, message: string): void },
  ) {}

  onModuleInit(): void {
    this.timer = setInterval(() => {
      this.look ??= this.end().finally(() => (this.look = undefined));
    }, EVERY_MS).unref();
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await this.look;
  }

  private async end(): Promise<void> {
    this.conversations.endOld();
    const gone = new Map<string, Promise<boolean>>();
    const isGone = (stream: string, type: string): Promise<boolean> => {
      const known = gone.get(stream) ?? isDeleted(this.log, stream, type);
      gone.set(stream, known);
      return known;
    };
    try {
      await this.conversations.endGone(
        async ({ userId, agentId }) =>
          (await isGone(`agent-${agentId}`, 'AgentDeleted')) || isGone(`user-${userId}`, 'UserDeleted'),
      );
    } catch (error) {
      this.logger.warn({ error }, 'Ending incognito conversations of deleted Agents and users failed; retrying.');
    }
  }
}
