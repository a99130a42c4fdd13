import { isDomainError, isUnavailable } from '@app/kernel';
import type { MessagePart } from '../conversation/message-parts';
import type { SkillVersion } from '../conversation/provenance.schema';
import type { AnsweringAgent } from './answering';
import { failedTool, inputOf } from './tool-input';
import { catalogueOf } from './skill-catalogue';
import { foundText, loadedText, readText, type SkillPlace } from './skill-texts';
import type { AgentSkills, LoadableSkill, SkillBody, SkillFileEntry } from './skills';
import type { Tool, ToolOutput } from './tools';

/** Characters of instructions that one branch may hold: the window of a model has more to take. */
const MOST_LOADED = 200_000;
const LONGEST_QUERY = 1_000;
const LONGEST_PATH = 255;

/** A text of a Skill, and where it stands. */
export interface PlacedText {
  readonly place: SkillPlace;
  readonly text: string;
}

/** What the requests of a turn hold of its Skills. */
export interface ShownSkills {
  readonly catalogue: string;
  readonly skills: readonly LoadableSkill[];
  readonly loaded: readonly PlacedText[];
  readonly read: readonly PlacedText[];
}

/** What a turn loads its Skills by, and for which Agent. */
export interface SkillSource {
  readonly port: AgentSkills | undefined;
  readonly logger: { warn(facts: object, message: string): void };
  /** Tokens of names and descriptions: `SKILL_CATALOG_TOKENS`. */
  readonly catalogTokens: number;
}

/** What is known of a turn's Skills when it begins. */
export interface SkillsToBegin {
  readonly agent: AnsweringAgent;
  /** What the answer is to, which says what is relevant. */
  readonly question: string;
  /** Ids of those that the branch has loaded, the oldest first. */
  readonly loaded: readonly string[];
  /** The versions that it had before it waited; undefined where it had none known. */
  readonly began?: readonly SkillVersion[] | undefined;
}

/** The Skills of one turn: those that the Agent had when it began. What changes of them meanwhile holds from the next turn. */
export class TurnSkills {
  private readonly bySlug: ReadonlyMap<string, LoadableSkill>;
  private readonly bodies = new Map<string, Promise<SkillBody>>();
  /** The loaded texts in the branch, by the ids of Skills. */
  private readonly texts = new Map<string, string>();
  private readonly readTexts: PlacedText[] = [];
  private readonly filesRead = new Map<string, Map<string, SkillFileEntry>>();

  private constructor(
    private readonly port: AgentSkills | undefined,
    private readonly skills: readonly LoadableSkill[],
    /** In the words of the system prompt; empty where there are none. */
    readonly catalogue: string,
    /** They could not be read, so the turn has none. */
    readonly isUnavailable: boolean,
  ) {
    this.bySlug = new Map(skills.map((skill) => [skill.slug, skill]));
  }

  static none(isUnavailable = false): TurnSkills {
    return new TurnSkills(undefined, [], '', isUnavailable);
  }

  /** If Skills cannot be read, a turn continues without them. */
  static async begin({ port, logger, catalogTokens }: SkillSource, given: SkillsToBegin): Promise<TurnSkills> {
    if (port === undefined) return TurnSkills.none();
    const { agent, question, loaded, began } = given;
    try {
      const { skills: live } = await port.of(agent);
      const skills = began === undefined ? live : asBegun(live, began);
      const turn = new TurnSkills(port, skills, catalogueOf(skills, question, catalogTokens), false);
      for (const skillId of loaded) await turn.recall(skillId, logger);
      return turn;
    } catch (error) {
      logger.warn(
        { agentId: agent.agentId, error: nameOf(error) },
        'Skills cannot be read. The answer continues without them.',
      );
      return TurnSkills.none(true);
    }
  }

  /** The texts that a model reads after the call that loaded a Skill, by the ids of Skills. */
  get loadedTexts(): ReadonlyMap<string, string> {
    return this.texts;
  }

  /** What requests hold of them, as far as it is known where. */
  get shown(): ShownSkills {
    return {
      catalogue: this.catalogue,
      skills: this.skills,
      loaded: this.skills.flatMap(({ skillId, versionId }) => {
        const text = this.texts.get(skillId);
        return text === undefined ? [] : [{ place: { skillId, versionId, of: 'loaded' as const }, text }];
      }),
      read: this.readTexts,
    };
  }

  /** As the turn began with them. */
  get versions(): readonly SkillVersion[] {
    return this.skills.map(({ skillId, versionId, contentHash }) => ({ skillId, versionId, contentHash }));
  }

  /** Those whose instructions or files the answer was made from, with the files that were read. */
  get used(): readonly (SkillVersion & { readonly files: readonly { path: string; sha256: string }[] })[] {
    return this.skills
      .filter(({ skillId }) => this.texts.has(skillId) || this.filesRead.has(skillId))
      .map(({ skillId, versionId, contentHash }) => ({
        skillId,
        versionId,
        contentHash,
        files: [...(this.filesRead.get(skillId)?.values() ?? [])].map(({ path, sha256 }) => ({ path, sha256 })),
      }));
  }

  /** None where there are no Skills. */
  get tools(): readonly Tool[] {
    if (this.skills.length === 0) return [];
    const slug = { type: 'string', description: 'The name of a Skill.' };
    return [
      {
        name: 'load_skill',
        description:
          'Load a Skill: get its instructions and the list of its reference files. Call this before you begin a task that the Skill is for.',
        inputSchema: schemaOf({ slug: { ...slug, enum: this.skills.map((each) => each.slug) } }),
        approval: 'never',
        run: (input) => this.run(input, ['slug'], ({ skill }) => this.load(skill)),
      },
      {
        name: 'search_skill',
        description: 'Search the reference files of a Skill. Returns matching lines.',
        inputSchema: schemaOf({ slug, query: { type: 'string', minLength: 1, maxLength: LONGEST_QUERY } }),
        approval: 'never',
        run: (input) =>
          this.run(input, ['slug', 'query'], ({ skill, fields }) => this.search(skill, fields['query'] ?? '')),
      },
      {
        name: 'read_skill_file',
        description: 'Read a reference file of a Skill by its path.',
        inputSchema: schemaOf({ slug, path: { type: 'string', minLength: 1, maxLength: LONGEST_PATH } }),
        approval: 'never',
        run: (input) =>
          this.run(input, ['slug', 'path'], ({ skill, fields }) => this.read(skill, fields['path'] ?? '')),
      },
    ];
  }

  private async run(
    input: unknown,
    names: readonly string[],
    call: (given: { skill: LoadableSkill; fields: Readonly<Record<string, string>> }) => Promise<ToolOutput>,
  ): Promise<ToolOutput> {
    const fields = inputOf(input, names, { query: LONGEST_QUERY, path: LONGEST_PATH });
    if (fields === undefined)
      return failedTool(`The input must be an object with these texts and nothing else: ${names.join(', ')}.`);
    const skill = this.bySlug.get(fields['slug'] ?? '');
    if (skill === undefined)
      return failedTool('There is no Skill with this name. The schema of load_skill lists all names.');
    try {
      return await call({ skill, fields });
    } catch (error) {
      if (isDomainError(error, 'not_found')) return failedTool('This Skill is no longer available.');
      if (isUnavailable(error)) return failedTool('Skills cannot be read right now. Answer without this Skill.');
      throw error;
    }
  }

  private async load(skill: LoadableSkill): Promise<ToolOutput> {
    const { skillId, slug } = skill;
    if (this.texts.has(skillId))
      return { output: `The Skill "${slug}" is already loaded. Its instructions are above.` };
    const text = loadedText(skill, await this.body(skill));
    // Asked for twice at once.
    if (this.texts.has(skillId)) return { output: `The Skill "${slug}" is already loaded.` };
    if (this.loadedCharacters + text.length > MOST_LOADED)
      return failedTool('This conversation can load no more Skills. Use the loaded ones.');
    this.texts.set(skillId, text);
    return { output: loadedNote(slug), skillId };
  }

  private async search(skill: LoadableSkill, query: string): Promise<ToolOutput> {
    const hits = await (this.port as AgentSkills).search(skill, query);
    for (const path of new Set(hits.map((hit) => hit.path))) await this.wasRead(skill, path);
    return this.given(skill, { query }, foundText(hits));
  }

  private async read(skill: LoadableSkill, path: string): Promise<ToolOutput> {
    const text = await (this.port as AgentSkills).readFile(skill, path);
    if (text === undefined)
      return failedTool('There is no text file at this path. The result of load_skill lists all files.');
    await this.wasRead(skill, path);
    return this.given(skill, { path }, readText(text));
  }

  /** No message holds the content of files, so it is deleted with its Skill. */
  private given({ skillId, versionId }: LoadableSkill, of: SkillPlace['of'], output: string): ToolOutput {
    this.readTexts.push({ place: { skillId, versionId, of }, text: output });
    return { output, kept: READ_NOTE };
  }

  private async wasRead(skill: LoadableSkill, path: string): Promise<void> {
    const file = (await this.body(skill)).files.find((each) => each.path === path);
    if (file === undefined) return;
    const read = this.filesRead.get(skill.skillId) ?? new Map<string, SkillFileEntry>();
    this.filesRead.set(skill.skillId, read.set(path, file));
  }

  /** A Skill that the branch loaded before is loaded again in its present version, unless it is gone. */
  private async recall(skillId: string, logger: SkillSource['logger']): Promise<void> {
    const skill = this.skills.find((each) => each.skillId === skillId);
    if (skill === undefined || this.texts.has(skillId)) return;
    try {
      const text = loadedText(skill, await this.body(skill));
      if (this.loadedCharacters + text.length <= MOST_LOADED) this.texts.set(skillId, text);
    } catch (error) {
      if (!isDomainError(error, 'not_found') && !isUnavailable(error)) throw error;
      logger.warn({ skillId, error: nameOf(error) }, 'An already loaded Skill cannot be read.');
    }
  }

  private get loadedCharacters(): number {
    return [...this.texts.values()].reduce((sum, { length }) => sum + length, 0);
  }

  private body(skill: LoadableSkill): Promise<SkillBody> {
    const known = this.bodies.get(skill.versionId);
    if (known !== undefined) return known;
    const body = (this.port as AgentSkills).load(skill);
    this.bodies.set(skill.versionId, body);
    // After a failure, the next call tries again.
    body.catch(() => this.bodies.delete(skill.versionId));
    return body;
  }
}

/** Replaces the text that was read or found in files, once the answer is made. */
const READ_NOTE = 'This was read for an earlier answer and is not kept. Call the tool again to read it.';

/**
 * The stored result of the call that loaded a Skill: no message holds the instructions, so they are deleted with their
 * Skill.
 */
const loadedNote = (slug: string): string => `Loaded the Skill "${slug}".`;

/** The Skills that parts of an answer loaded. */
export const loadedIn = (parts: readonly MessagePart[]): readonly string[] =>
  parts.flatMap((part) =>
    part.type === 'tool' && part.state === 'output-available' && part.skillId !== undefined ? [part.skillId] : [],
  );

/** Those that a turn had before it waited, in their versions of then, as far as they are still there. */
const asBegun = (live: readonly LoadableSkill[], began: readonly SkillVersion[]): readonly LoadableSkill[] =>
  live.flatMap((skill) => {
    const then = began.find(({ skillId }) => skillId === skill.skillId);
    return then === undefined ? [] : [{ ...skill, ...then }];
  });

const schemaOf = (properties: Readonly<Record<string, object>>): Tool['inputSchema'] =>
  ({
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  }) as Tool['inputSchema'];

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : typeof error);
