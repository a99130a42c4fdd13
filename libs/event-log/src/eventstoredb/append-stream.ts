import type { ExpectedRevision, NewEvent } from '@app/kernel';
import { type AppendAnswer, answerOf } from './append-answer';
import { appendRequest, correlationOf } from './append-request';
import type { Connection } from './connection';
import { serverFault, ServerFault } from './server-errors';
import type { AppendCall } from './transport';

/** Milliseconds of silence after which a call is given up: what waits for it was given up long before. */
const MOST_SILENCE = 4_000;

interface Waiting {
  readonly resolve: (answer: AppendAnswer) => void;
  readonly reject: (fault: ServerFault) => void;
}

/** All appends of a process go over one call; after it broke, over a new one. */
export class AppendStream {
  private current: OpenStream | undefined;

  constructor(private readonly connection: Connection) {}

  /** Rejects with `ServerFault` when the call breaks. When the server is silent it never ends: the caller watches the time. */
  send(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendAnswer> {
    if (this.current?.isSilent === true) this.current.giveUp();
    this.current ??= this.open();
    return this.current.send(stream, events, expected);
  }

  private open(): OpenStream {
    const opened: OpenStream = new OpenStream(this.connection, () => {
      if (this.current === opened) this.current = undefined;
    });
    return opened;
  }
}

/** One call and who waits for its answers. An answer that nobody waits for, as a second one to the same append, is passed over. */
class OpenStream {
  private readonly waiting = new Map<number, Waiting>();
  private sent = 0;
  private heardAt = 0;
  private call: AppendCall | undefined;
  private unsent: (() => void)[] = [];
  private isBroken = false;

  constructor(
    connection: Connection,
    private readonly onBroken: () => void,
  ) {
    connection.batchAppend((call) => this.attach(call)).catch((error: unknown) => this.break(serverFault(error)));
  }

  get isSilent(): boolean {
    return this.waiting.size > 0 && performance.now() - this.heardAt > MOST_SILENCE;
  }

  giveUp(): void {
    this.break(new ServerFault('late'));
  }

  send(stream: string, events: readonly NewEvent[], expected: ExpectedRevision): Promise<AppendAnswer> {
    if (this.waiting.size === 0) this.heardAt = performance.now();
    return new Promise((resolve, reject) => {
      const correlation = (this.sent += 1);
      this.waiting.set(correlation, { resolve, reject });
      const write = (): void => void this.call?.write(appendRequest(correlation, stream, events, expected));
      if (this.call === undefined) this.unsent.push(write);
      else write();
    });
  }

  private attach(call: AppendCall): void {
    this.call = call;
    call.on('data', (response) => {
      this.heardAt = performance.now();
      const correlation = correlationOf(response.getCorrelationId());
      const waiting = this.waiting.get(correlation);
      this.waiting.delete(correlation);
      try {
        waiting?.resolve(answerOf(response));
      } catch (error) {
        waiting?.reject(serverFault(error));
      }
    });
    call.on('error', (error) => this.break(serverFault(error)));
    call.on('end', () => this.break(new ServerFault('broken')));
    for (const write of this.unsent.splice(0)) write();
    if (this.isBroken) call.cancel();
  }

  private break(fault: ServerFault): void {
    this.isBroken = true;
    this.unsent = [];
    this.call?.cancel();
    this.onBroken();
    for (const { reject } of this.waiting.values()) reject(fault);
    this.waiting.clear();
  }
}
