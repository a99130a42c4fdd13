import { offBudget, type Receipt } from '@app/kernel';
import type { Answer } from '../conversation/conversation.decider';
import type { SourceDocumentPart } from '../conversation/message-parts';

export type TurnEvent =
  { readonly type: 'text'; readonly delta: string } | { readonly type: 'source'; readonly part: SourceDocumentPart };

/** A finished turn: the answer as it was recorded, and where. */
export interface FinishedTurn {
  readonly conversationId: string;
  readonly parentId: string;
  readonly answer: Omit<Answer, 'type'>;
  /** ISO 8601 UTC. */
  readonly createdAt: string;
  readonly receipt: Pick<Receipt, 'stream' | 'position' | 'revision' | 'repeated' | 'eventIds'>;
}

/** A running answer. It continues and is recorded whether anybody listens or not, and however long its request has waited for the log. */
export class Turn {
  readonly finished: Promise<FinishedTurn>;
  private readonly events: TurnEvent[] = [];
  private ended = false;
  private wake: () => void = () => undefined;
  private changed = this.nextChange();

  /** `run` says what happens through `say`, and resolves when the answer is recorded. */
  constructor(
    readonly conversationId: string,
    readonly answerId: string,
    run: (say: (event: TurnEvent) => void) => Promise<FinishedTurn>,
  ) {
    this.finished = offBudget(() => run((event) => this.tell(() => this.events.push(event)))).finally(() =>
      this.tell(() => {
        this.ended = true;
      }),
    );
    // Whoever listens hears of a failure; nobody needs to.
    this.finished.catch(() => undefined);
  }

  /** Everything from the beginning until the answer is recorded. Throws if it could not be recorded. */
  async *follow(): AsyncGenerator<TurnEvent> {
    for (let index = 0; ;) {
      const { changed } = this;
      for (; index < this.events.length; index += 1) yield this.events[index] as TurnEvent;
      if (this.ended) break;
      if (changed === this.changed) await changed;
    }
    await this.finished;
  }

  private tell(change: () => void): void {
    change();
    const { wake } = this;
    this.changed = this.nextChange();
    wake();
  }

  private nextChange(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}
