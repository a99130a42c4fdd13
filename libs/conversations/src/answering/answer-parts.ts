import type { MessagePart, ToolPart } from '../conversation/message-parts';

/** The parts of an answer while it is made. Each change makes a new list: whoever holds one holds what was said then. */
export class AnswerParts {
  /** Half of a character, whose other half comes with the next piece. */
  private half = '';

  constructor(
    private parts: readonly MessagePart[],
    private readonly onChange: (parts: readonly MessagePart[]) => void,
  ) {}

  get all(): readonly MessagePart[] {
    return this.parts;
  }

  /** The next piece of the text, or of the reasoning before it, as far as it can be kept: without NUL, and whole characters. */
  say(type: 'text' | 'reasoning', piece: string): void {
    const text = (this.half + piece).replaceAll('\0', '');
    this.half = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? '';
    const more = text.slice(0, text.length - this.half.length).toWellFormed();
    if (more === '') return;
    const last = this.parts.at(-1);
    if (last?.type === type) this.change([...this.parts.slice(0, -1), { type, text: last.text + more }]);
    else this.change([...this.parts, { type, text: more }]);
  }

  add(...parts: readonly MessagePart[]): void {
    this.half = '';
    if (parts.length > 0) this.change([...this.parts, ...parts]);
  }

  /** Takes back what was said since these. */
  backTo(parts: readonly MessagePart[]): void {
    this.half = '';
    this.change(parts);
  }

  /** What became of a call. */
  call(callId: string, fields: Partial<ToolPart>): void {
    this.change(
      this.parts.map((part) => (part.type === 'tool' && part.toolCallId === callId ? { ...part, ...fields } : part)),
    );
  }

  private change(parts: readonly MessagePart[]): void {
    this.parts = parts;
    this.onChange(parts);
  }
}
