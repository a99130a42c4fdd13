import { reject } from '@app/kernel';
import { READ_STORE, type ReadStore } from '@app/read-store';
import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type ApiKeyRow, apiKeys } from '../api-keys.projection';

/** Throws `not_found`. */
export class GetApiKey extends Query<ApiKeyRow> {
  constructor(readonly keyId: string) {
    super();
  }
}

@QueryHandler(GetApiKey)
export class GetApiKeyHandler implements IQueryHandler<GetApiKey> {
  constructor(@Inject(READ_STORE) private readonly store: ReadStore) {}

  async execute({ keyId }: GetApiKey): Promise<ApiKeyRow> {
    return (
      ((await this.store.get(apiKeys.name, keyId))?.row as ApiKeyRow | undefined) ??
      reject('not_found', { kind: 'apiKey', id: keyId })
    );
  }
}
