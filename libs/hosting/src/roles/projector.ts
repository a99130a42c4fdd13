import { FOREIGN_ACCOUNT, type ForeignAccount } from '@app/auditing';
import { led, Leases, type LeaseMember } from '@app/coordination';
import { ReapplyErasures } from '@app/erasure';
import { Policies, Projecting } from '@app/projecting';
import { Sealer } from '@app/sealing';
import { Inject, Injectable } from '@nestjs/common';
import type { Role } from '../lifecycle';

/** Keeps the views up with the log, reacts to events, seals the log, counts what others write to its server: what other projectors do not do already. */
@Injectable()
export class Projector implements Role {
  private members: readonly LeaseMember[] = [];

  constructor(
    private readonly projecting: Projecting,
    private readonly policies: Policies,
    private readonly reapplyErasures: ReapplyErasures,
    private readonly leases: Leases,
    private readonly sealer: Sealer,
    @Inject(FOREIGN_ACCOUNT) private readonly foreignAccount: ForeignAccount | undefined,
  ) {}

  async start(): Promise<void> {
    await this.projecting.start();
    await this.policies.start();
    this.members = await this.leases.join([
      // Once more where the log is restored under this process: what was erased since stands there as living.
      led('erasures', 0, { start: () => this.reapplyErasures.run(), stop: async () => undefined }),
      led('sealer', 1, this.sealer),
      ...(this.foreignAccount === undefined ? [] : [led('foreign-events', 2, this.foreignAccount)]),
    ]);
  }

  async stop(): Promise<void> {
    await this.policies.stop();
    await this.projecting.stop();
    await this.leases.leave(this.members);
  }
}
