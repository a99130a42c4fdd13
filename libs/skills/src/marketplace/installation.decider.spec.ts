import { given } from '../../../kernel/src/decider.contract';
import { type InstallationCommand, installationDecider } from './installation.decider';
import type { InstallationEvent } from './installation.events';

const at = { entryId: 'e1', versionId: null, scope: 'space', spaceId: 's1', agentId: null } as const;
const install = (ticket: string): InstallationCommand => ({ type: 'Install', at, ticket, installedBy: 'u1' });
const installed: InstallationEvent = { type: 'SkillInstalled', data: { ...at, ticket: 't1', installedBy: 'u1' } };
const uninstalled: InstallationEvent = {
  type: 'SkillUninstalled',
  data: { entryId: 'e1', spaceId: 's1', agentId: null, ticket: 't1' },
};
const claim = (ticket: string) => ({ key: 'skillNames-s1', ticket });
const forfeit = (ticket: string): InstallationCommand => ({ type: 'ForfeitClaim', claim: claim(ticket) });
const forfeited = (ticket: string) => ({ type: 'ClaimForfeited', data: claim(ticket) }) as const;

describe('an installation', () => {
  it('is made once, with one claim to its name', () => {
    given(installationDecider).when(install('t1')).yields(installed);
    given(installationDecider, installed).when(install('t1')).yields();
    given(installationDecider, installed).when(install('t2')).rejects('conflict');
    given(installationDecider, installed).when(forfeit('t1')).rejects('name_taken');
    given(installationDecider, installed).when(forfeit('t2')).yields();
  });

  it('cannot use a claim that was forfeited before', () => {
    given(installationDecider).when(forfeit('t1')).yields(forfeited('t1'));
    given(installationDecider, forfeited('t1')).when(forfeit('t1')).yields();
    given(installationDecider, forfeited('t1')).when(install('t1')).rejects('name_taken');
    given(installationDecider, forfeited('t2')).when(install('t1')).yields(installed);
  });

  it('is gone for good once it is taken away', () => {
    given(installationDecider).when({ type: 'Uninstall' }).rejects('not_found');
    given(installationDecider, installed).when({ type: 'Uninstall' }).yields(uninstalled);
    given(installationDecider, installed, uninstalled).when({ type: 'Uninstall' }).yields();
    given(installationDecider, installed, uninstalled).when(install('t2')).rejects('not_found');
    given(installationDecider, installed, uninstalled).when(forfeit('t2')).yields();
  });
});
