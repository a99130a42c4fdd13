import { setTimeout as pause } from 'node:timers/promises';
import { Unavailable } from '@app/kernel';
import { running, withIngestion } from '../../../../test/fixtures/ingesting';
import { until } from '../../../../test/fixtures/until';
import { documentDecider } from '../document/document.decider';
import type { DocumentCommand } from '../document/document.commands';

withIngestion();

/** Has the parser come back from no file but where its signal ends; the signals of those that it reads. */
const endless = (): readonly AbortSignal[] => {
  const signals: AbortSignal[] = [];
  running.parser.read = (_, signal) => {
    signals.push(signal);
    return new Promise((__, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  };
  return signals;
};

/** A PDF that a worker is reading, for ever. */
const reading = async () => {
  const signals = endless();
  const documentId = await running.add('%PDF-1.7', 'application/pdf');
  const worker = running.worker();
  worker.offer(documentId);
  await until(() => signals.length === 1);
  const decide = (command: DocumentCommand) =>
    running.decisions.transact(documentDecider, documentId, command, running.meta());
  return { worker, decide };
};

const file = { mimeType: 'text/plain', sizeBytes: 1, contentHash: 'other', file: 'f' };

it.each<[string, DocumentCommand, string]>([
  ['it was deleted', { type: 'Delete' }, 'Deleted'],
  ['it got other content', { type: 'Update', content: file }, 'ContentReplaced'],
  ['another process began to read it', { type: 'Start' }, 'ProcessingStarted'],
])('a document is read no longer once %s', async (_, command, event) => {
  const { types, warnings } = running;
  const { worker, decide } = await reading();
  await decide(command);
  await until(() => worker.busy === 0);
  expect(types()).toEqual(['Added', 'ProcessingStarted', event]);
  expect(warnings).toEqual([]);
});

it('a document is read no longer once the worker stops, and fails by nothing of it', async () => {
  const { decisions, types, warnings } = running;
  const { worker } = await reading();
  await worker.stop();
  expect(types()).toEqual(['Added', 'ProcessingStarted']);
  expect(warnings).toEqual([]);
  // Nor is the log asked of it any longer.
  const load = jest.spyOn(decisions, 'load');
  await pause(1_200);
  expect(load).not.toHaveBeenCalled();
});

it('a document is read on while the log does not answer whether it still counts', async () => {
  const { decisions, types } = running;
  const { worker, decide } = await reading();
  const unhandled: unknown[] = [];
  const hear = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', hear);
  const load = jest.spyOn(decisions, 'load').mockRejectedValueOnce(new Unavailable('log', 'no answer', 'none'));
  await until(() => load.mock.calls.length === 1);
  expect(worker.busy).toBe(1);
  await decide({ type: 'Delete' });
  await until(() => worker.busy === 0);
  process.off('unhandledRejection', hear);
  expect(types()).toEqual(['Added', 'ProcessingStarted', 'Deleted']);
  expect(unhandled).toEqual([]);
});
