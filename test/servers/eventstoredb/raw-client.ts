import { randomUUID } from 'node:crypto';
import {
  type ClientDuplexStream,
  type ClientReadableStream,
  credentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { Empty, UUID } from '@eventstore/db-client/generated/shared_pb';
import { StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb';
import {
  BatchAppendReq,
  type BatchAppendResp,
  ReadReq,
  type ReadResp,
} from '@eventstore/db-client/generated/streams_pb';
import { streamIdentifier } from './recorded-event';

/** The generated client alone: it survives answers that end the process of the real one, and reads only when it is told to. */
export class RawClient {
  readonly answers: BatchAppendResp[] = [];
  private readonly client: StreamsClient;
  private readonly batch: ClientDuplexStream<BatchAppendReq, BatchAppendResp>;
  /** How the call that carries the appends ended. */
  failure: ServiceError | undefined;

  constructor(port: number) {
    this.client = new StreamsClient(`127.0.0.1:${port}`, credentials.createInsecure());
    this.batch = this.client.batchAppend();
    this.batch.on('data', (answer: BatchAppendResp) => this.answers.push(answer));
    this.batch.on('error', (error: ServiceError) => (this.failure = error));
  }

  /** Sends an append of one event and waits for nothing. */
  append(
    stream: string,
    { id = randomUUID(), bytes = 2 }: { readonly id?: string; readonly bytes?: number } = {},
  ): string {
    const message = new BatchAppendReq.ProposedMessage()
      .setId(new UUID().setString(id))
      .setData(Buffer.alloc(bytes, 1));
    message.getMetadataMap().set('type', 'Noted').set('content-type', 'application/octet-stream');
    const options = new BatchAppendReq.Options().setStreamIdentifier(streamIdentifier(stream)).setAny(new Empty());
    this.batch.write(
      new BatchAppendReq()
        .setCorrelationId(new UUID().setString(randomUUID()))
        .setOptions(options)
        .setProposedMessagesList([message])
        .setIsFinal(true),
    );
    return id;
  }

  /** Ids in a stream; what is not there is empty. */
  async read(stream: string): Promise<string[]> {
    const ids: string[] = [];
    for await (const response of this.client.read(readRequest(stream, (options) => options.setCount('1000')))) {
      const id = (response as ReadResp).getEvent()?.getEvent()?.getId()?.getString();
      if (id !== undefined) ids.push(id);
    }
    return ids;
  }

  /** How a read that requires the leader ends. */
  readFromLeader(stream: string): Promise<ServiceError> {
    const metadata = new Metadata();
    metadata.set('requires-leader', 'true');
    const call = this.client.read(
      readRequest(stream, (options) => options.setCount('1')),
      metadata,
    );
    return new Promise((resolve) => call.on('error', (error: ServiceError) => resolve(error)));
  }

  subscribe(stream: string): ClientReadableStream<ReadResp> {
    return this.client.read(
      readRequest(stream, (options) => options.setSubscription(new ReadReq.Options.SubscriptionOptions())),
    );
  }

  close(): void {
    this.client.close();
  }
}

const readRequest = (stream: string, bound: (options: ReadReq.Options) => ReadReq.Options): ReadReq => {
  const from = new ReadReq.Options.StreamOptions().setStreamIdentifier(streamIdentifier(stream)).setStart(new Empty());
  return new ReadReq().setOptions(bound(new ReadReq.Options().setStream(from).setNoFilter(new Empty())));
};
