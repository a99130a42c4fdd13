import { rest } from '@app/kernel';

/** How often what was said is saved, milliseconds: well within the 500 of the wire. */
const EVERY_MS = 400;

/** Saves what an answer says while it is said, so that neither its reader nor a process that dies loses it. */
export class SavedText {
  private from = 0;
  private unsaved = '';
  private running: Promise<void> | undefined;
  private readonly ended = new AbortController();

  /** `save` keeps a piece by its offset in the text; what it could not keep is in the next piece. */
  constructor(
    private readonly save: (from: number, text: string) => Promise<unknown>,
    private readonly onFailed: (error: unknown) => void,
  ) {}

  add(delta: string): void {
    this.unsaved += delta;
    this.running ??= this.run();
  }

  /** Resolves when nothing is being saved any more; the rest stands in the finished answer. */
  async end(): Promise<void> {
    this.ended.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.ended;
    for (;;) {
      await rest(EVERY_MS, signal);
      if (signal.aborted) return;
      const text = this.unsaved;
      if (text === '') continue;
      try {
        await this.save(this.from, text);
        this.from += text.length;
        this.unsaved = this.unsaved.slice(text.length);
      } catch (error) {
        this.onFailed(error);
      }
    }
  }
}
