import { CONFIG, type Config } from '@app/kernel';
import type { Caller } from '@app/access';
import { callWindow, type ModelDescription, Models, type UpstreamAnswer, UpstreamCall, UpstreamFailure, usageOf } from '@app/models';
import { METERING, type Metering } from '@app/spending';
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CallRecord } from './call-record';
import { chatAnswer, hasCommonUsage } from './chat-answer';
import { type ChatParameters, chatParameters } from './chat-parameters';
import { chatInput, chatRequest } from './chat-request';
import { ChatStream } from './chat-stream';
import type { Fields } from './checks';
import { EventWriter } from './event-writer';
import { LocalChat } from './local-chat';
import { relayStream } from './relay-stream';
import { sendJson } from './send-json';
import { upstreamError } from './upstream-errors';
import { chatUsage, knownUsage } from './usage-report';

/** Output tokens that are held for a call that names no most. */
const USUAL_OUTPUT = 16_384;
/** Names the unsupported fields that the instance left out of a request. */
const DROPPED_HEADER = 'x-dropped-parameters';

/** A chat call under way. */
interface ChatCall {
  readonly model: ModelDescription;
  readonly parameters: ChatParameters;
  readonly input: number;
  readonly record: CallRecord;
  readonly reply: FastifyReply;
}

/** Chat completions: checked, metered, passed through. */
@Injectable()
export class ChatGateway {
  private readonly local: LocalChat;

  constructor(
    private readonly models: Models,
    @Inject(METERING) private readonly metering: Metering,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    this.local = new LocalChat(models);
  }

  /** Answers a request. Throws `GatewayError`, or a refusal of the metering, while nothing was sent. */
  async answer(caller: Caller, model: ModelDescription, body: Fields, reply: FastifyReply): Promise<void> {
    const parameters = chatParameters(body, this.config.COMPAT_DROP_UNSUPPORTED);
    if (parameters.dropped.length > 0) reply.header(DROPPED_HEADER, parameters.dropped.join(', '));
    // Before anything is waited for: a reload of the catalogue may take them away meanwhile.
    const routes = this.models.routes(model);
    const { counted: input, most: mostInput } = chatInput(parameters, routes);
    const { userId, keyId } = caller;
    const mayAnswer = this.models.mayAnswer(model);
    const most = callWindow(mayAnswer.length === 0 ? [model] : mayAnswer, input);
    const estimate = usageOf({ input: Math.min(input, most.input), output: Math.min(parameters.maxTokens ?? USUAL_OUTPUT, most.output) });
    const record = await CallRecord.begin(this.metering, { userId, ...(keyId === undefined ? {} : { keyId }), kind: 'chat', isAskedFor: true, model, mayAnswer, estimate, mostInput: Math.min(mostInput, most.input) }, reply);
    const call = { model, parameters, input, record, reply };
    if (routes.length === 0) return this.local.answer(call);
    const upstream = new UpstreamCall(routes, 'chat/completions', (route) => chatRequest(parameters, route));
    try {
      await (parameters.stream ? this.streamed(call, upstream) : this.whole(call, upstream));
    } catch (error) {
      record.failed(error, input);
      throw upstreamError(error);
    } finally {
      upstream.done();
      record.settle();
    }
  }

  private async whole({ model, input, record, reply }: ChatCall, upstream: UpstreamCall): Promise<void> {
    const left = (): void => upstream.abort();
    reply.raw.once('close', left);
    const { text, known, served } = await upstream.answer(async ({ model: asked, exchange }) => ({
      ...chatAnswer(await exchange.whole(), asked, { key: model.key, input, id: record.id }),
      served: asked,
    }));
    record.servedBy(served);
    record.used(known);
    record.succeeded();
    reply.raw.off('close', left);
    await sendJson(reply, text);
  }

  private async streamed(call: ChatCall, upstream: UpstreamCall): Promise<void> {
    const writer = new EventWriter(call.reply);
    writer.onLeft = () => upstream.abort();
    try {
      await upstream.answer((answer) => this.relayed(call, answer, writer));
    } catch (error) {
      writer.stop();
      throw error;
    }
  }

  private async relayed({ model, parameters, input, record }: ChatCall, { model: served, exchange, report }: UpstreamAnswer, writer: EventWriter): Promise<void> {
    if (!isEventStream(exchange.headers['content-type'])) throw new UpstreamFailure('broken');
    record.servedBy(served);
    const usage = (reported: unknown, characters: number): object | null => {
      const known = knownUsage(reported, served, input, characters);
      return known.source === 'upstream' && hasCommonUsage(reported) ? null : chatUsage(known.usage);
    };
    const stream = new ChatStream({ model: model.key, includeUsage: parameters.includeUsage, usage });
    try {
      const failure = await relayStream(exchange, stream, writer, report);
      report(failure);
      if (failure === undefined) record.succeeded();
      else record.failed(failure, input);
    } finally {
      // Also what a client left behind, or a provider broke off, was produced.
      if (writer.begun || stream.characters > 0) record.used(knownUsage(stream.report, served, input, stream.characters, stream.unreported));
    }
  }
}

/** Pages and whole answers are no stream, whatever their status says. */
const isEventStream = (type: string | undefined): boolean => type === undefined || !/^(?:application\/json|text\/html|application\/problem)/i.test(type);
