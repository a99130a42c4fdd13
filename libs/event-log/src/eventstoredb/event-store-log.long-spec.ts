import { openOnDouble } from '../contract/opened-logs.contract';
import { eventLogContract } from '../event-log.contract';

describe('the log on EventStoreDB 24.10.4', () => {
  eventLogContract(() => openOnDouble('24.10.4'), { races: 100 });
});

// The double decides appends alike for both versions; it is `test/servers` that races on real ones.
describe('the log on EventStoreDB 23.10.6', () => {
  eventLogContract(() => openOnDouble('23.10.6'), { races: 0 });
});
