import { randomUUID } from 'node:crypto';
import { WAIT_MS } from '@app/kernel';
import type { ImportMark } from '../event-log';
import type { Appender } from './appender';
import type { ReadLast } from './stream-metadata';

/** The stream that says when an import began and when it ended. Its name and its events are storage formats. */
const IMPORTS_STREAM = '$agent-platform-imports';
const BEGUN = '$import-begun';
const ENDED = '$import-ended';

/** Marks an import on the server, where every process sees it, also one on another machine. Each step may be repeated. */
export class ServerImportMark implements ImportMark {
  constructor(
    private readonly appender: Appender,
    private readonly readLast: ReadLast,
  ) {}

  async isSet(): Promise<boolean> {
    return (await this.readLast(IMPORTS_STREAM, WAIT_MS))?.type === BEGUN;
  }

  async set(isUnfinished: boolean): Promise<void> {
    if ((await this.isSet()) === isUnfinished) return;
    const event = { id: randomUUID(), type: isUnfinished ? BEGUN : ENDED, data: '{}', metadata: '{}' };
    await this.appender.append(IMPORTS_STREAM, [event], 'any');
  }
}
