import { randomUUID } from 'node:crypto';
import type { sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js';
import { ClusterInfo, EndPoint, MemberInfo } from '@eventstore/db-client/generated/gossip_pb';
import { SupportedMethod, SupportedMethods } from '@eventstore/db-client/generated/serverfeatures_pb';
import { type Empty, UUID } from '@eventstore/db-client/generated/shared_pb';
import type { Serving } from './serving';
import { refused, unavailable } from './statuses';

const SERVICE = 'event_store.client.streams.streams';
const METHODS = ['read', 'append', 'delete', 'tombstone', 'batchappend'];

/** What the client asks first: which version, and whether appends go on one batch stream. */
export const supportedMethods =
  ({ faults, version }: Serving) =>
  (_call: ServerUnaryCall<Empty, SupportedMethods>, reply: sendUnaryData<SupportedMethods>) => {
    if (faults.isSilent) return;
    if (faults.isUnavailable) return reply(unavailable);
    const methods = METHODS.map((name) => new SupportedMethod().setServiceName(SERVICE).setMethodName(name));
    reply(null, new SupportedMethods().setEventStoreServerVersion(version).setMethodsList(methods));
  };

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** A node as the gossip of its cluster tells of it. */
export interface Member extends Endpoint {
  readonly state: 'leader' | 'follower';
  readonly isAlive: boolean;
}

/** What a node says of its cluster. */
export const gossip =
  ({ faults }: Serving, members: () => readonly Member[]) =>
  (_call: ServerUnaryCall<Empty, ClusterInfo>, reply: sendUnaryData<ClusterInfo>) => {
    if (faults.isSilent) return;
    if (faults.isUnavailable) return reply(unavailable);
    if (faults.refusal !== null) return reply(refused(faults.refusal));
    reply(null, new ClusterInfo().setMembersList(members().map(memberInfo)));
  };

const memberInfo = ({ host, port, state, isAlive }: Member): MemberInfo =>
  new MemberInfo()
    .setInstanceId(new UUID().setString(randomUUID()))
    .setTimeStamp(String(Date.now()))
    .setState(state === 'leader' ? MemberInfo.VNodeState.LEADER : MemberInfo.VNodeState.FOLLOWER)
    .setIsAlive(isAlive)
    .setHttpEndPoint(new EndPoint().setAddress(host).setPort(port));
