import { LineEnds, type TokenUsage } from '@app/models';
import { charactersOf } from './chat-request';
import { type Fields, isFields } from './checks';
import { ChunkTemplate } from './chunk-template';
import { changedJson, latin1, parsedJson, unmarked } from './latin1';
import type { Produced } from './usage-report';

/** A longer event is no event of a chat. */
const MAX_EVENT = 16 * 1024 * 1024;
/** Streams whose chunks have more that changes than their text are parsed. */
const TEMPLATES = 3;
const DONE = 'data: [DONE]\n\n';
/** The lines that an event may have beside `data:`. Readers of some clients stumble over them, so they are not passed on. */
const OTHER_LINE = /^(?:event|id|retry)(?::|$)/;

export interface ChatStreamOptions {
  /** The model as the client named it. */
  readonly model: string;
  readonly includeUsage: boolean;
  /** The usage for the client, in the common format; null where the provider's own may be passed on. */
  readonly usage: (report: unknown, produced: Produced) => object | null;
  /** Whether a report can be; all can by default. One that cannot takes no place of another. */
  readonly believes?: (report: unknown, produced: Produced) => boolean;
}

/**
 * Converts a stream of chunks for the client. Reads and writes text as latin1, so bytes stay as they are. Events pass
 * unchanged except for model and usage. The one usage chunk is sent last.
 */
export class ChatStream {
  /** Nothing more is taken: the end came, or what came was no stream of chunks. */
  over = false;
  broken = false;
  /** The last usage that was reported. */
  report: unknown;
  /** How much was produced. */
  characters = 0;
  /** Whether the provider said why its answer ended: only its usage can be missing then. */
  finished = false;
  /** Whether it came to its end: nothing more will be said of its usage. */
  complete = false;
  /** Set where the client was slower than the provider: how long the stream took tells nothing of that one then. */
  slowed = false;
  /** When the last usage was reported and why the answer ended, by `performance.now()`. */
  reportedAt = 0;
  finishedAt = Infinity;
  /** How much had been produced when the last usage was reported. */
  private reported = 0;
  private firstAt = Infinity;
  private reasonsAloud = false;
  private readonly lineEnds = new LineEnds();
  private pieces: string[] = [];
  private size = 0;
  /** Whether what waits ends with the end of a line. */
  private isBehindLine = false;
  private usageEvent: string | undefined;
  private template: ChunkTemplate | undefined;
  private templates = 0;
  private head: { readonly id: unknown; readonly created: unknown } | undefined;

  /** The model's name as it stands in text. */
  private readonly name: string;

  constructor(private readonly options: ChatStreamOptions) {
    this.name = latin1(options.model);
  }

  /** What was produced behind the last report. */
  get unreported(): number {
    return this.characters - this.reported;
  }

  /** How long the answer took from its first text on, and how much of it came in that time; undefined where that tells nothing. */
  pace({
    outputTokens,
    outputTokenDetails: { reasoningTokens },
  }: TokenUsage): { readonly tokens: number; readonly ms: number } | undefined {
    const { firstAt, finishedAt } = this;
    if (this.slowed || !this.finished || firstAt === Infinity) return undefined;
    return { tokens: outputTokens - (this.reasonsAloud ? 0 : reasoningTokens), ms: finishedAt - firstAt };
  }

  /** Takes what came and answers what goes on: whole events only. */
  accept(piece: string): string {
    if (this.over) return '';
    const text = this.lineEnds.read(piece);
    if (text === '') return '';
    const isAtEmptyLine = (this.isBehindLine && text.startsWith('\n')) || text.includes('\n\n');
    this.pieces.push(text);
    this.size += text.length;
    this.isBehindLine = text.endsWith('\n');
    // An event that drips in, or comes line by line, is put together once, not at every piece.
    if (!isAtEmptyLine) return this.size > MAX_EVENT ? this.breakOff() : '';
    const lines = this.pieces.join('');
    let out = '';
    let from = 0;
    for (let end = lines.indexOf('\n\n'); end !== -1; end = lines.indexOf('\n\n', from)) {
      out += this.event(lines.slice(from, end));
      if (this.over) return out;
      from = end + 2;
    }
    const rest = lines.slice(from);
    // A slice would keep all that it was cut from.
    this.pieces = rest === '' ? [] : [Buffer.from(rest, 'latin1').toString('latin1')];
    this.size = rest.length;
    this.isBehindLine = rest.endsWith('\n');
    return this.size > MAX_EVENT ? out + this.breakOff() : out;
  }

  /** The provider's stream has ended: what is missing at its end is added, or it is broken. */
  end(): string {
    if (this.over) return '';
    const rest = this.pieces.join('').trim();
    const out = rest === '' ? '' : this.event(rest);
    return this.over ? out : out + this.close();
  }

  private event(block: string): string {
    const text = this.template?.textIn(block);
    if (text !== undefined) {
      this.characters += text.length;
      return (this.template as ChunkTemplate).with(text);
    }
    if (block.startsWith('data:') && !block.includes('\n'))
      return this.data(block.slice(block.startsWith('data: ') ? 6 : 5), block);
    const data: string[] = [];
    for (const line of (this.head === undefined ? unmarked(block) : block).split('\n')) {
      if (line.startsWith('data:')) data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
      else if (line !== '' && !line.startsWith(':') && !OTHER_LINE.test(line)) return this.breakOff();
    }
    return data.length === 0 ? '' : this.data(data.join(''));
  }

  /** `block`: the event as it came, where it consists of one line. */
  private data(data: string, block = `data: ${data}`): string {
    if (data === '') return '';
    if (data.trim() === '[DONE]') return this.close();
    const chunk = parsedJson(data);
    if (!isFields(chunk) || (chunk['error'] !== undefined && chunk['error'] !== null)) return this.breakOff();
    const { choices, usage } = chunk;
    const isReport = usage !== undefined && usage !== null;
    const isTaken = isReport && this.reports(usage);
    if (!Array.isArray(choices) || choices.length === 0) {
      if (Array.isArray(choices) && isTaken) this.usageEvent = this.named(chunk, block);
      return '';
    }
    const choice: unknown = choices[0];
    if (!isFields(choice)) return this.breakOff();
    this.head ??= { id: chunk['id'], created: chunk['created'] };
    this.says(choice['delta']);
    if (typeof choice['finish_reason'] === 'string' && choice['finish_reason'] !== '') this.finish();
    if (isReport) this.reports(usage);
    const sent = `${this.named(chunk, this.withoutUsage(chunk, block))}\n\n`;
    if (choice['finish_reason'] === null && !isReport) this.learn(block, sent, choice['delta']);
    return sent;
  }

  private says(delta: unknown): void {
    const said = charactersOf(delta);
    if (said === 0) return;
    if (this.characters === 0) this.firstAt = performance.now();
    this.characters += said;
    this.reasonsAloud ||=
      isFields(delta) && (typeof delta['reasoning_content'] === 'string' || typeof delta['reasoning'] === 'string');
  }

  private finish(): void {
    if (!this.finished) this.finishedAt = performance.now();
    this.finished = true;
  }

  /** `usage`: of all that was said until now. False where an earlier one stands: some say what they used, and then nothing or zeros. */
  private reports(usage: unknown): boolean {
    const { believes } = this.options;
    if (this.report !== undefined && believes !== undefined && !believes(usage, this)) return false;
    this.report = usage;
    this.reported = this.characters;
    this.reportedAt = performance.now();
    return true;
  }

  private learn(block: string, sent: string, delta: unknown): void {
    if (
      this.templates === TEMPLATES ||
      !isFields(delta) ||
      Object.keys(delta).length !== 1 ||
      typeof delta['content'] !== 'string'
    )
      return;
    this.templates += 1;
    this.template = ChunkTemplate.from(block, sent, delta['content']);
  }

  /** Unless the client wants it, no chunk has the key `usage`; if it does, the last alone has more than null. */
  private withoutUsage(chunk: Fields, block: string): string {
    const { usage } = chunk;
    if (usage === undefined || (usage === null && this.options.includeUsage)) return block;
    const stripped = usage === null ? replacedOnce(block, ',"usage":null', '') : undefined;
    return (
      stripped ??
      `data: ${changedJson(block.slice(5), (fields) => ({ ...fields, usage: this.options.includeUsage ? null : undefined }))}`
    );
  }

  private named({ model }: Fields, block: string): string {
    if (model === this.name) return block;
    const renamed =
      model === undefined
        ? undefined
        : replacedOnce(block, `"model":${JSON.stringify(model)}`, `"model":${JSON.stringify(this.name)}`);
    return renamed ?? `data: ${changedJson(block.slice(5), (fields) => ({ ...fields, model: this.options.model }))}`;
  }

  private close(): string {
    if (!this.finished) return this.breakOff();
    this.over = true;
    this.complete = true;
    return this.options.includeUsage ? `${this.usageChunk()}\n\n${DONE}` : DONE;
  }

  private usageChunk(): string {
    const usage = this.options.usage(this.report, this);
    if (usage === null && this.usageEvent !== undefined) return this.usageEvent;
    return `data: ${JSON.stringify({ ...this.head, object: 'chat.completion.chunk', model: this.name, choices: [], usage: usage ?? this.report })}`;
  }

  private breakOff(): string {
    this.over = true;
    this.broken = true;
    return '';
  }
}

/** What ends a stream that broke: the error, then the end that every reader knows. */
export const brokenEnd = (envelope: string): string => `data: ${envelope}\n\n${DONE}`;

/**
 * JSON with another text in the place of a member; undefined unless that stands there once, since parts may have one of the
 * same name. An unescaped quote cannot stand inside a string, so this finds the member itself.
 */
const replacedOnce = (json: string, member: string, by: string): string | undefined => {
  const at = json.indexOf(member);
  return at === -1 || json.includes(member, at + 1)
    ? undefined
    : json.slice(0, at) + by + json.slice(at + member.length);
};
