import type { Model } from 'mongoose';
import type { MongoServer } from '@app/read-store';

/**
 * The key of a stream; `_id` is the stream. Destroyed: `wrapped` is gone, and `destroyedAt` and `cause` (the text of the selector)
 * stand there. The document stays, so that the stream never gets another key.
 */
export interface KeyDocument {
  readonly _id: string;
  /** Base64. */
  readonly wrapped?: string;
  readonly userId?: string;
  readonly spaceId?: string;
  /** ISO 8601 UTC. */
  readonly destroyedAt?: string;
  readonly cause?: string;
}

/** A user or a Space whose keys are destroyed; `_id` is the text of the selector. */
export interface DestroyedOwnerDocument {
  readonly _id: string;
  readonly destroyedAt: string;
}

/** `check`: a wrapped key of no stream, base64, by which a wrong `VAULT_KEY` shows. `destructions`: how many there were. `note`: what is noted beside the keys. */
export interface VaultDocument {
  readonly _id: 'check' | 'destructions' | 'note';
  readonly wrapped?: string;
  readonly count?: number;
  readonly text?: string;
}

export interface VaultModels {
  readonly keys: Model<KeyDocument>;
  readonly destroyedOwners: Model<DestroyedOwnerDocument>;
  readonly vault: Model<VaultDocument>;
}

/** The collections of a vault with their indexes. Unknown fields are rejected in documents and in queries. */
export const vaultModelsOf = async (server: MongoServer): Promise<VaultModels> => {
  const { Schema } = await import('mongoose');
  const strict = { strict: 'throw', strictQuery: 'throw', versionKey: false } as const;
  const keys = new Schema(
    { _id: String, wrapped: String, userId: String, spaceId: String, destroyedAt: String, cause: String },
    strict,
  );
  for (const field of ['userId', 'spaceId', 'cause']) keys.index({ [field]: 1 }, { sparse: true });
  const models = {
    keys: server.database.model<KeyDocument>('Key', keys, 'keys'),
    destroyedOwners: server.database.model<DestroyedOwnerDocument>(
      'DestroyedOwner',
      new Schema({ _id: String, destroyedAt: String }, strict),
      'destroyedOwners',
    ),
    vault: server.database.model<VaultDocument>(
      'Vault',
      new Schema({ _id: String, wrapped: String, count: Number, text: String }, strict),
      'vault',
    ),
  };
  await server.write(() => models.keys.createIndexes());
  return models;
};
