import { IdentityModule } from '@app/identity';
import { Module } from '@nestjs/common';
import { Access } from './access';
import { Authenticator } from './authenticator';
import { KeyGrants } from './key-grants';

/** Who somebody is, and what they may do. */
@Module({
  imports: [IdentityModule],
  providers: [Access, KeyGrants, Authenticator],
  exports: [Access, KeyGrants, Authenticator],
})
export class AccessModule {}
