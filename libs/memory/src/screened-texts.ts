import { type CommandMeta, Decisions, hasAtMost, InstanceSecret, reject } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { memoryDecider, type MemoryPlace } from './memory/memory.decider';
import { MOST_CHARACTERS } from './memory/memory.events';

/** Injection token of `MemoryScreener`. */
export const MEMORY_SCREENER = Symbol('MemoryScreener');

/** What a screener says of a text. */
export interface ScreenedText {
  /** What was screened, and so what is stored. */
  readonly canonical: string;
  readonly verdict: 'safe' | 'flagged';
  readonly rules: readonly string[];
  readonly version: string;
}

/** Whose memory a text is to be: a model that judges it is paid for by them. */
export interface ScreenedFor {
  readonly agentId: string;
  readonly userId: string;
  /** The API key that sent it, if one did. */
  readonly keyId?: string;
}

/** Says whether a text is safe to be remembered. Throws where it cannot say. */
export interface MemoryScreener {
  /** By the rules and, where one is configured, by a model. */
  screen(text: string, of: ScreenedFor): Promise<ScreenedText>;
  /** By the rules alone. */
  rescreen(text: string): ScreenedText;
  /** The version of the rules. That of a text that a model judged too goes on with `+` and the model's key. */
  readonly version: string;
}

/** A text that was found safe, as it is stored. */
export interface SafeText {
  readonly text: string;
  readonly screening: { readonly version: string };
}

/** Screens every text before anything of it is stored. */
@Injectable()
export class ScreenedTexts {
  constructor(
    private readonly decisions: Decisions,
    private readonly secret: InstanceSecret,
    @Inject(MEMORY_SCREENER) private readonly screener: MemoryScreener,
  ) {}

  /**
   * The text in canonical form. Rejects `memory_flagged`, once that is recorded without the text, and `invalid_body` where nothing or too
   * much is left of it; throws what the screener throws: nothing is saved then.
   */
  async safe(
    text: string,
    memoryId: string,
    { agentId, userId, kind, during }: MemoryPlace & { readonly during: 'creation' | 'choice' | 'edit' },
    meta: CommandMeta,
  ): Promise<SafeText> {
    const { canonical, verdict, rules, version } = await this.screener.screen(text, {
      agentId,
      userId,
      ...keyOf(meta),
    });
    if (verdict === 'flagged') {
      const hash = this.secret.hash('flagged-memory', canonical);
      const flag = { type: 'Flag', agentId, userId, kind, during, hash, rules, version } as const;
      await this.decisions.transact(memoryDecider, memoryId, flag, meta);
      return reject('memory_flagged');
    }
    const stored = canonical.trim();
    if (stored === '' || !hasAtMost(MOST_CHARACTERS, stored))
      return reject('invalid_body', { path: 'text', reason: 'memory_length' });
    return { text: stored, screening: { version } };
  }
}

const KEY = 'key:';
const keyOf = ({ actor }: CommandMeta): { readonly keyId?: string } =>
  actor.startsWith(KEY) ? { keyId: actor.slice(KEY.length) } : {};
