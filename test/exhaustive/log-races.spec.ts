import type { LogUnderTest } from '../../libs/event-log/src/contract/log-under-test.contract';
import { openEmbedded, openOnDouble } from '../../libs/event-log/src/contract/opened-logs.contract';
import { racingContract } from '../../libs/event-log/src/contract/racing.contract';

describe.each<readonly [string, () => Promise<LogUnderTest>]>([
  ['the SQLite log', openEmbedded],
  ['the log on EventStoreDB 24.10.4', () => openOnDouble('24.10.4')],
])('%s', (_name, open) => {
  let opened: LogUnderTest;
  beforeAll(async () => void (opened = await open()));
  afterAll(() => opened.dispose());

  racingContract(() => opened, 1000);
});
