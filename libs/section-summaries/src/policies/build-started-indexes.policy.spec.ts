import type { Config } from '@app/kernel';
import { recorded } from '../../../../test/fixtures/recorded';
import { BuildStartedIndexes } from './build-started-indexes.policy';

it.each<[Config['ROLES'], readonly string[]]>([
  [['worker'], ['agent']],
  [['api', 'projector'], []],
])('in a process whose roles are %j hands it %j', async (roles, handed) => {
  const offered: string[] = [];
  const worker = { offer: (agentId: string) => void offered.push(agentId) };
  const policy = new BuildStartedIndexes(worker, { ROLES: roles });
  await policy.react(recorded('summaryIndex-agent', 'SummaryIndexBuildStarted'));
  expect(offered).toEqual(handed);
});
