import type { BatchAppendReq, AppendReq } from '@eventstore/db-client/generated/streams_pb';
import type { UUID } from '@eventstore/db-client/generated/shared_pb';
import type { Proposed } from './recorded-event';
import type { ServerVersion } from './serving';

const UUID_FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Stands for a request larger than any message may be. */
export const TOO_LARGE: unique symbol = Symbol('too large');

/** A message that the server cannot take; its text goes back to the client. */
export class BadMessage extends Error {
  override readonly name = 'BadMessage';
}

export const proposedOf = (message: BatchAppendReq.ProposedMessage | AppendReq.ProposedMessage): Proposed => {
  const described = message.getMetadataMap();
  const type = described.get('type') ?? '';
  if (type === '') throw new BadMessage("Empty eventType provided. (Parameter 'eventType')");
  return {
    id: uuidOf(message.getId()),
    type,
    isJson: described.get('content-type') === 'application/json',
    data: message.getData_asU8(),
    metadata: message.getCustomMetadata_asU8(),
  };
};

/** In lower case, as the server gives it back. */
export const uuidOf = (uuid: UUID | undefined): string => {
  const text = (uuid?.getString() ?? '').toLowerCase();
  if (!UUID_FORM.test(text))
    throw new BadMessage('Guid should contain 32 digits with 4 dashes (xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx).');
  return text;
};

/** Bytes of an event as the limit counts them: version 23 counts the data alone. */
export const countedSize = ({ type, data, metadata }: Proposed, version: ServerVersion): number =>
  version === '23.10.6' ? data.length : data.length + metadata.length + 2 * type.length;
