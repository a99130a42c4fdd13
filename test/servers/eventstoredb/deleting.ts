import type { sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js';
import {
  type DeleteReq,
  DeleteResp,
  type TombstoneReq,
  TombstoneResp,
} from '@eventstore/db-client/generated/streams_pb';
import { strikes } from './faults';
import { streamName } from './recorded-event';
import { refusalOf, type Serving } from './serving';
import { streamDeleted, wrongExpectedVersion } from './statuses';
import { expectedOf } from './unary-append';

/** Hides a stream's events; a later append goes on at the next revision. */
export const deleteStream =
  (serving: Serving) => (call: ServerUnaryCall<DeleteReq, DeleteResp>, reply: sendUnaryData<DeleteResp>) =>
    remove(serving, 'delete', call, reply, (position) =>
      new DeleteResp().setPosition(new DeleteResp.Position().setCommitPosition(position).setPreparePosition(position)),
    );

/** Closes a stream's name for ever. */
export const tombstoneStream =
  (serving: Serving) => (call: ServerUnaryCall<TombstoneReq, TombstoneResp>, reply: sendUnaryData<TombstoneResp>) =>
    remove(serving, 'tombstone', call, reply, (position) =>
      new TombstoneResp().setPosition(
        new TombstoneResp.Position().setCommitPosition(position).setPreparePosition(position),
      ),
    );

const remove = <Response>(
  serving: Serving,
  kind: 'delete' | 'tombstone',
  call: ServerUnaryCall<DeleteReq | TombstoneReq, Response>,
  reply: sendUnaryData<Response>,
  respond: (position: string) => Response,
): void => {
  const { faults, log } = serving;
  if (faults.isSilent) return;
  const options = call.request.getOptions();
  const refusal = refusalOf(serving, call.metadata, true);
  if (refusal !== undefined) return reply(refusal);
  const stream = streamName(options?.getStreamIdentifier());
  const expected = options === undefined ? -1 : expectedOf(options);
  const isLost = strikes(faults, 'dropAcknowledgements');
  log[kind](stream, expected, (outcome) => {
    if (isLost) return;
    if (outcome.kind === 'deleted') return reply(streamDeleted(stream));
    if (outcome.kind === 'wrongExpectedVersion')
      return reply(wrongExpectedVersion('Delete', stream, expected, outcome.current));
    reply(null, respond(String(outcome.position)));
  });
};
