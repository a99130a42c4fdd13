import { ApiKeyUse, IdentityModule } from '@app/identity';
import { type Clock, CLOCK, Decisions, InstanceSecret, LOGGER } from '@app/kernel';
import { Module } from '@nestjs/common';
import { Access } from './access';
import { Authenticator } from './authenticator';
import { KeyGrants } from './key-grants';

/** Who somebody is, and what they may do. */
@Module({
  imports: [IdentityModule],
  providers: [
    Access,
    KeyGrants,
    {
      provide: Authenticator,
      inject: [Decisions, InstanceSecret, CLOCK, ApiKeyUse, LOGGER],
      useFactory: (
        decisions: Decisions,
        instance: InstanceSecret,
        clock: Clock,
        use: ApiKeyUse,
        logger: { warn(facts: object, message: string): void },
      ) =>
        new Authenticator(decisions, instance, clock, use, (error) =>
          logger.warn({ error }, 'Recording the use of an API key failed.'),
        ),
    },
  ],
  exports: [Access, KeyGrants, Authenticator],
})
export class AccessModule {}
