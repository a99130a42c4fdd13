import type { OutgoingHttpHeaders } from 'node:http';
import { CONFIG, type Config } from '@app/kernel';
import type { Caller } from '@app/access';
import { OpenStreams, turnsEnd } from '@app/http';
import {
  type Attempt,
  believedUsage,
  callWindow,
  type Exchange,
  type KnownUsage,
  isUpstreamFailure,
  type ModelDescription,
  Models,
  noAnswer,
  UpstreamCall,
  UpstreamFailure,
  usageOf,
} from '@app/models';
import { type CallRecord, METERING, type Metering, type RepeatedCall } from '@app/spending';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { beginCall } from './begin-call';
import { chatAnswer, hasCommonUsage } from './chat-answer';
import { type ChatParameters, chatParameters } from './chat-parameters';
import { chatInput, chatRequest } from './chat-request';
import { ChatStream } from './chat-stream';
import { type Fields, isFields } from './checks';
import { EventWriter } from './event-writer';
import { localChat } from './local-chat';
import { parsedJson } from './latin1';
import { relayStream } from './relay-stream';
import { upstreamError } from './upstream-errors';
import { chatUsage, knownUsage, type Produced } from './usage-report';

const NOTHING = usageOf({});
/** Output tokens that are held for a call that names no most. */
const USUAL_OUTPUT = 16_384;
/** Names the unsupported fields that the instance left out of a request. */
const DROPPED_HEADER = 'x-dropped-parameters';

/** A chat call under way. */
interface ChatCall {
  readonly model: ModelDescription;
  readonly parameters: ChatParameters;
  readonly input: number;
  readonly calls: RepeatedCall;
  readonly reply: FastifyReply;
}

/** Chat completions: checked, metered, passed through. */
@Injectable()
export class ChatGateway {
  constructor(
    private readonly models: Models,
    @Inject(METERING) private readonly metering: Metering,
    @Inject(CONFIG) private readonly config: Config,
    private readonly streams: OpenStreams,
  ) {}

  /** Answers a request. Throws `GatewayError`, or a rejection by the metering, while nothing was sent. */
  async answer(caller: Caller, model: ModelDescription, body: Fields, reply: FastifyReply): Promise<void> {
    const parameters = chatParameters(body, this.config.COMPAT_DROP_UNSUPPORTED);
    if (parameters.dropped.length > 0) reply.header(DROPPED_HEADER, parameters.dropped.join(', '));
    // Before anything is waited for: a reload of the catalogue may take them away meanwhile.
    const provider = this.models.provider(model);
    const routes = provider.routes(model);
    const { counted, most: mostInput } = chatInput(parameters, routes);
    const mayAnswer = provider.mayAnswer(model);
    const most = callWindow(mayAnswer, counted);
    const input = Math.min(counted, most.input);
    const estimate = usageOf({
      input,
      output: Math.min(parameters.maxTokens ?? USUAL_OUTPUT, most.output),
    });
    const calls = await beginCall(
      this.metering,
      this.models,
      caller,
      {
        kind: 'chat',
        model,
        mayAnswer,
        estimate,
        mostInput: Math.min(mostInput, most.input),
      },
      reply,
    );
    const call = { model, parameters, input, calls, reply };
    if (routes.length === 0) return localChat(provider, { ...call, record: calls.now, streams: this.streams });
    const upstream = new UpstreamCall(routes, (failure) => calls.again(failure, usageOf({ input })));
    try {
      await (parameters.stream ? this.streamed(call, upstream) : this.whole(call, upstream));
    } catch (error) {
      calls.failed(error, usageOf({ input }));
      throw upstreamError(error);
    } finally {
      upstream.done();
      calls.settle();
    }
  }

  private async whole({ model, parameters, input, calls, reply }: ChatCall, upstream: UpstreamCall): Promise<void> {
    const left = (): void => upstream.abort();
    reply.raw.once('close', left);
    const { text, known, served, ms } = await upstream
      .answer(async ({ route, send }) => {
        const exchange = await send('chat/completions', chatRequest(parameters, route));
        const answer = chatAnswer(await exchange.whole(), route.model, { key: model.key, input, id: calls.now.id });
        return { ...answer, served: route.model, ms: exchange.ms };
      })
      .finally(() => reply.raw.off('close', left));
    const record = calls.now;
    record.servedBy(served);
    record.used(known);
    if (known.source === 'upstream') record.madeIn(ms, known.usage.outputTokens);
    record.succeeded();
    await sendJson(reply, text);
  }

  private async streamed(call: ChatCall, upstream: UpstreamCall): Promise<void> {
    const writer = new EventWriter(call.reply, this.streams);
    const abort = (): void => upstream.abort();
    writer.onLeft = abort;
    try {
      await upstream.answer((attempt) => this.relayed(call, attempt, writer, abort));
    } catch (error) {
      writer.stop();
      throw error;
    }
  }

  private async relayed(
    { model, parameters, input, calls }: ChatCall,
    { route, send, report }: Attempt,
    writer: EventWriter,
    abort: () => void,
  ): Promise<void> {
    const exchange = await send('chat/completions', chatRequest(parameters, route));
    const { model: served } = route;
    if (!isEventStream(exchange.headers['content-type'])) {
      const answer = parsedJson((await exchange.whole()).toString());
      throw noAnswer(isFields(answer) ? answer['usage'] : undefined, served);
    }
    const record = calls.now;
    record.servedBy(served);
    const usage = (reported: unknown, produced: Produced): object | null => {
      const known = knownUsage(reported, served, input, produced);
      return known.source === 'upstream' && hasCommonUsage(reported) ? null : chatUsage(known.usage);
    };
    const believes = (reported: unknown, { characters }: Produced): boolean =>
      believedUsage(reported, served, characters > 0) !== undefined;
    const stream = new ChatStream({ model: model.key, includeUsage: parameters.includeUsage, usage, believes });
    const failure = await relayStream({ exchange, stream, writer, begun: report, abort }).catch((error: unknown) => {
      throw stream.broken && isUpstreamFailure(error) ? noAnswer(stream.report, served, error) : error;
    });
    report(failure);
    const known = knownUsage(stream.report, served, input, stream);
    record.used(known);
    if (failure !== undefined) return this.left({ stream, exchange, failure, served, known }, record);
    const pace = known.source === 'upstream' ? stream.pace(known.usage) : undefined;
    if (pace !== undefined) record.madeIn(pace.ms, pace.tokens);
    record.succeeded();
  }

  /** The client left, or the provider broke off or took too long: what that one did not tell of the usage it had the time for since it told last. */
  private left({ stream, exchange: { ms, sentAt }, failure, served, known }: LeftStream, record: CallRecord): void {
    const told = believedUsage(stream.report, served, stream.characters > 0)?.outputTokens;
    const end = Math.min(sentAt + (failure.facts.work?.ms ?? ms), stream.finishedAt);
    const isKnown = stream.complete || (stream.finished && told !== undefined && stream.unreported === 0);
    if (!isKnown)
      record.brokenOff({
        seen: known.usage,
        told: told ?? 0,
        ms: Math.max(0, end - (told === undefined ? sentAt : stream.reportedAt)),
      });
    record.failed(failure, NOTHING);
  }
}

/** A stream that did not come to its end with the client. */
interface LeftStream {
  readonly stream: ChatStream;
  readonly exchange: Exchange;
  readonly failure: UpstreamFailure;
  readonly served: ModelDescription;
  /** What was told and counted. */
  readonly known: KnownUsage;
}

/** Pages and whole answers are no stream, whatever their status says. */
const isEventStream = (type: string | undefined): boolean =>
  type === undefined || !/^(?:application\/json|text\/html|application\/problem)/i.test(type);

/** Sends JSON at the end of the turn, its bytes read as latin1, straight to the connection. Head and text leave in one write: a buffer would be a second one. */
const sendJson = async (reply: FastifyReply, text: string): Promise<void> => {
  await turnsEnd();
  reply.hijack();
  const headers = reply.getHeaders() as OutgoingHttpHeaders;
  reply.raw
    .writeHead(200, { ...headers, 'content-type': 'application/json', 'content-length': text.length })
    .end(text, 'latin1');
};
