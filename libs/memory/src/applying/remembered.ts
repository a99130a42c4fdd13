import { CONFIG, type Config, countTokens, isErased, REMEMBERED, type Sensitive, SharedLruCache } from '@app/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { MEMORY_RULES, type RulesOfAgents, SAVED_MEMORIES, type SavedMemories } from '../lookups';
import type { MemoryKind } from '../memory/memory.events';
import { MEMORY_SCREENER, type MemoryScreener } from '../screened-texts';
import { fitting } from './fitting';

/** A saved memory as its view has it. */
export interface SavedRow {
  readonly id: string;
  readonly revision: number;
  readonly kind: MemoryKind;
  readonly text: Sensitive<string>;
  readonly updatedAt: string;
  readonly screening: { readonly version: string };
}

/** A memory that an answer is given. */
export interface RememberedText {
  readonly memoryId: string;
  readonly revision: number;
  readonly kind: MemoryKind;
  /** From 1. */
  readonly rank: number;
  readonly tokens: number;
  readonly text: string;
}

interface Weighed {
  readonly tokens: number;
  readonly isSafe: boolean;
}

/** About what an entry weighs: its name and two numbers. */
const ENTRY_WEIGHT = 150;

/** What an Agent remembers for an answer. */
@Injectable()
export class Remembered {
  /** Numbers alone, by memory, revision and screener: no text. */
  private readonly weighed = new SharedLruCache<string, Weighed>(REMEMBERED, () => ENTRY_WEIGHT);

  constructor(
    @Inject(SAVED_MEMORIES) private readonly saved: SavedMemories,
    @Inject(MEMORY_RULES) private readonly rulesOf: RulesOfAgents,
    @Inject(MEMORY_SCREENER) private readonly screener: MemoryScreener,
    @Inject(CONFIG) private readonly config: Pick<Config, 'MEMORY_CONTEXT_TOKENS'>,
  ) {}

  /** The memories for a question that fit into `MEMORY_CONTEXT_TOKENS`, by rank; undefined where memory is off. What the rules of today flag is left out. */
  async for(agentId: string, userId: string, question: string): Promise<readonly RememberedText[] | undefined> {
    const rules = await this.rulesOf(agentId);
    if (rules.personal === 'off') return undefined;
    const rows = await this.saved(agentId, userId, rules.shared === 'on');
    const candidates = rows.flatMap((row) => {
      if (isErased(row.text)) return [];
      const { tokens, isSafe } = this.weigh(row, row.text);
      const { id: memoryId, text, revision, kind, updatedAt } = { ...row, text: row.text };
      return isSafe ? [{ memoryId, text, revision, kind, updatedAt, tokens }] : [];
    });
    return fitting(candidates, question, this.config.MEMORY_CONTEXT_TOKENS).map(
      ({ updatedAt: _updatedAt, ...memory }, index) => ({ ...memory, rank: index + 1 }),
    );
  }

  private weigh({ id, revision, screening }: SavedRow, text: string): Weighed {
    const { version } = this.screener;
    const name = `${id}/${revision}/${version}`;
    const known = this.weighed.get(name);
    if (known !== undefined) return known;
    const [rules] = screening.version.split('+');
    const isSafe = rules === version || this.screener.rescreen(text).verdict === 'safe';
    const weighed = { tokens: countTokens(text), isSafe };
    this.weighed.set(name, weighed);
    return weighed;
  }
}
