import { reject } from '@app/kernel';
import { grown } from '../conversation/growing-words';
import type { MessagePart, ToolPart } from '../conversation/message-parts';
import { bytesOf, MOST_ANSWER_BYTES } from './answer-size';

/**
 * The parts of an answer while it is made. Each change makes a new list, so a kept list does not change. If a model
 * says more than can be stored, it rejects `upstream_error`, and the excess is left out.
 */
export class AnswerParts {
  /** Half of a character, whose other half comes with the next piece. */
  private half = '';
  private bytes: number;

  constructor(
    private parts: readonly MessagePart[],
    private readonly onChange: (parts: readonly MessagePart[]) => void,
  ) {
    this.bytes = bytesIn(parts);
  }

  get all(): readonly MessagePart[] {
    return this.parts;
  }

  /**
   * The next piece of the text, or of the reasoning before it, as far as it can be stored: without NUL, and only whole
   * characters.
   */
  say(type: 'text' | 'reasoning', piece: string): void {
    const text = (this.half + piece).replaceAll('\0', '');
    this.half = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? '';
    const more = text.slice(0, text.length - this.half.length).toWellFormed();
    if (more === '') return;
    const last = this.parts.at(-1);
    if (last?.type !== type) return this.addAll({ type, text: more });
    this.grow(bytesOf(more));
    this.change([...this.parts.slice(0, -1), grown(last, more)]);
  }

  add(...parts: readonly MessagePart[]): void {
    this.half = '';
    if (parts.length > 0) this.addAll(...parts);
  }

  /** Takes back what was said since these. */
  backTo(parts: readonly MessagePart[]): void {
    this.half = '';
    this.bytes = bytesIn(parts);
    this.change(parts);
  }

  /** What became of a call. */
  call(callId: string, fields: Partial<ToolPart>): void {
    const parts = this.parts.map((part) =>
      part.type === 'tool' && part.toolCallId === callId ? { ...part, ...fields } : part,
    );
    this.bytes = bytesIn(parts);
    this.change(parts);
  }

  private addAll(...parts: readonly MessagePart[]): void {
    this.grow(bytesIn(parts));
    this.change([...this.parts, ...parts]);
  }

  private grow(bytes: number): void {
    if (this.bytes + bytes > MOST_ANSWER_BYTES) reject('upstream_error', { reason: 'too_long' });
    this.bytes += bytes;
  }

  private change(parts: readonly MessagePart[]): void {
    this.parts = parts;
    this.onChange(parts);
  }
}

const bytesIn = (parts: readonly MessagePart[]): number => parts.reduce((sum, part) => sum + bytesOf(part), 0);
