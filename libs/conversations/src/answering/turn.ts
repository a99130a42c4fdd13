import { offBudget, type Position, type Receipt } from '@app/kernel';
import type { Answer } from '../conversation/conversation.commands';
import type { MessagePart } from '../conversation/message-parts';

/** A finished turn. */
export interface AnsweredTurn {
  readonly conversationId: string;
  readonly parentId: string;
  readonly answer: Omit<Answer, 'type' | 'status'> & { readonly status: Answer['status'] | 'waiting' };
}

/** A finished turn of the log: the answer as it was recorded, and where. */
export interface FinishedTurn extends AnsweredTurn {
  readonly receipt: Pick<Receipt, 'stream' | 'position' | 'revision' | 'repeated' | 'eventIds'>;
}

const NOTHING: readonly MessagePart[] = [];

/** A running answer. It continues and is recorded whether anybody listens or not, and however long its request has waited for the log. */
export class Turn<Finished extends AnsweredTurn = FinishedTurn> {
  readonly finished: Promise<Finished>;
  /** The position of its question in the log, if it was asked here. */
  askedAt: Position | undefined;
  private said: readonly MessagePart[] = NOTHING;
  private heard = false;
  private ended = false;
  private wake: () => void = () => undefined;
  private changed = this.nextChange();

  /**
   * `run` reports the parts of the answer whenever they change, and resolves when the answer is recorded. Until
   * `isHeard`, nobody follows it here, and it may take back what it reported.
   */
  constructor(
    readonly conversationId: string,
    readonly answerId: string,
    run: (tell: (parts: readonly MessagePart[]) => void, isHeard: () => boolean) => Promise<Finished>,
  ) {
    const tell = (parts: readonly MessagePart[]): void => this.tell(() => (this.said = parts));
    this.finished = offBudget(() => run(tell, () => this.heard)).finally(() => this.tell(() => (this.ended = true)));
    // Whoever listens hears of a failure; nobody needs to.
    this.finished.catch(() => undefined);
  }

  /** What was said until now. */
  get parts(): readonly MessagePart[] {
    return this.said;
  }

  /** The parts until now, and whenever they changed, until the answer is recorded; who is slow misses what came between. Throws if it could not be recorded. */
  async *follow(): AsyncGenerator<readonly MessagePart[]> {
    for (let last = NOTHING; !this.ended;) {
      const { changed, said } = this;
      if (said !== last) {
        this.heard = true;
        yield said;
      }
      last = said;
      if (changed === this.changed && !this.ended) await changed;
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
