import type { ChatMessage, ChatSource } from '@app/models';
import type { MessagePart } from '../conversation/message-parts';
import { type Citation, CitationReader } from './citations';
import type { RetrievedPassage } from './retriever';
import { shownParts, type SkillTexts } from './shown-parts';
import { sourceParts } from './source-parts';
import { sourceOf } from './sources';

/** The sources of one answer: what it may cite, and the numbers of those that it cited, as its reader sees them. */
export class AnswerSources {
  private passages: readonly RetrievedPassage[] = [];
  /** As readers see them, by those that the model was given. */
  private readonly numbers = new Map<number, number>();
  /** What calls gave that is not kept. */
  private readonly texts = new Map<string, string>();
  /** The citable results that the model sees, by call. */
  private readonly notes = new Map<string, string>();

  /** `found` hears of passages that are new. */
  constructor(private readonly found: (passages: readonly RetrievedPassage[]) => void) {}

  get all(): readonly RetrievedPassage[] {
    return this.passages;
  }

  get given(): readonly ChatSource[] {
    return this.passages.map(sourceOf);
  }

  /** Results of calls that are in no message. */
  get unkept(): ReadonlyMap<string, string> {
    return this.texts;
  }

  /** The model reads this of a call while the answer is made. */
  gave(callId: string, text: string): void {
    this.texts.set(callId, text);
  }

  begin(passages: readonly RetrievedPassage[]): void {
    this.passages = passages;
    this.found(passages);
  }

  /** Where an answer goes on: with what it may cite, and what it cited. */
  resume(passages: readonly RetrievedPassage[], parts: readonly MessagePart[]): void {
    this.begin(passages);
    for (const part of parts) {
      if (part.type !== 'source-document') continue;
      const source = passages.findIndex(({ chunks }) => chunks.some(({ chunkId }) => chunkId === part.sourceId));
      this.numbers.set(source < 0 ? -this.numbers.size : source + 1, this.numbers.size + 1);
    }
  }

  /** What a tool found joins the sources; those that are among them keep their numbers. */
  join(callId: string, passages: readonly RetrievedPassage[]): void {
    const known = new Map(this.passages.map(({ chunkId }, index) => [chunkId, index + 1]));
    const numbers = passages.map((passage) => {
      const number = known.get(passage.chunkId) ?? this.passages.length + 1;
      if (number > this.passages.length) {
        this.passages = [...this.passages, passage];
        this.found([passage]);
      }
      known.set(passage.chunkId, number);
      return number;
    });
    if (numbers.length > 0)
      this.notes.set(callId, `[Cite this as ${[...new Set(numbers)].map((number) => `[${number}]`).join(', ')}.]`);
  }

  /**
   * Reads the citation marks of one model call. `cited` are the parts for new citations in its text, and `forget` takes
   * them back.
   */
  reader(): {
    readonly marks: CitationReader;
    readonly cited: (text: string) => readonly MessagePart[];
    readonly forget: () => void;
  } {
    const before = this.numbers.size;
    const forget = (): void => [...this.numbers.keys()].slice(before).forEach((source) => this.numbers.delete(source));
    const marks = new CitationReader(this.passages.length, this.numbers);
    const isNew = ({ number }: Citation): boolean => number > before;
    return { marks, forget, cited: (text) => sourceParts(text, marks.citations.filter(isNew), this.passages) };
  }

  /** The text of the answer for the model: with the original numbers of the sources. */
  shown(parts: readonly MessagePart[], skills: SkillTexts): readonly ChatMessage[] {
    const given = new Map([...this.numbers].map(([source, number]) => [number, source]));
    const marked = (text: string): string =>
      text.replace(/\[(\d{1,3})\]/g, (mark, number) => {
        const source = given.get(Number(number)) ?? 0;
        return source > 0 ? `[${source}]` : mark;
      });
    return shownParts(
      'assistant',
      parts.map((part) => {
        if (part.type === 'text') return { ...part, text: marked(part.text) };
        if (part.type !== 'tool' || part.output === undefined) return part;
        const output = this.texts.get(part.toolCallId) ?? part.output;
        const note = this.notes.get(part.toolCallId);
        return { ...part, output: note === undefined ? output : `${output}\n${note}` };
      }),
      undefined,
      skills,
    );
  }
}
