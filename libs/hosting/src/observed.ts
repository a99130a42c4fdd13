import type { EventLog } from '@app/event-log';
import { type CommandMeta, type Decisions, type NewEvent, streamOf } from '@app/kernel';
import type { Models, Provider } from '@app/models';
import type { Projection, RowProjection } from '@app/projecting';
import { isTracing, type Metrics, traced, tracedIn, traceMethods, tracedStream } from '@app/telemetry';

/**
 * Measures appends and, where traces are sent, puts commands and appends in spans. In place, as `stampAppends` does: the keys of an instance are read
 * from its log, so what needs the log before it may be written to has the same object as what comes later.
 */
export const observeStores = (
  { log, decisions }: { readonly log: EventLog; readonly decisions: Decisions },
  metrics: Metrics,
): void => {
  const append = log.append.bind(log);
  log.append = async (...args: Parameters<typeof append>) => {
    const start = performance.now();
    const result = await append(...args);
    metrics.append((performance.now() - start) / 1000);
    return result;
  };
  traceMethods(log, 'log', {
    append: ([stream, events]: [string, readonly NewEvent[], ...unknown[]]) => ({ stream, events: events.length }),
  });
  traceMethods(decisions, 'command', {
    transact: ([decider, id, , { commandId, correlationId, actor }]: [
      { category: string },
      string,
      unknown,
      CommandMeta,
    ]) => ({ stream: streamOf(decider.category, id), commandId, correlationId, actor }),
  });
};

/** Where traces are sent, puts calls of model providers in spans. */
export const observeModels = (models: Models): void => {
  if (!isTracing()) return;
  const chat = models.chat.bind(models);
  const embedding = models.embedding.bind(models);
  models.chat = (key) => {
    const found = chat(key);
    return { ...found, provider: tracedProvider(found.provider) };
  };
  const media = models.media.bind(models);
  models.media = (...args) => {
    const { model, provider } = media(...args);
    const called = <R, A>(method: (request: R) => Promise<A>) => {
      const call = method.bind(provider);
      return (request: R): Promise<A> => traced(`provider.${model.kind}`, { model: model.key }, () => call(request));
    };
    return {
      model,
      provider: {
        generateImages: called(provider.generateImages),
        generateSpeech: called(provider.generateSpeech),
        transcribe: called(provider.transcribe),
        mayAnswer: (asked) => provider.mayAnswer(asked),
      },
    };
  };
  models.embedding = () => {
    const found = embedding();
    return { ...found, provider: tracedProvider(found.provider) };
  };
};

const tracedProvider = (provider: Provider): Provider => ({
  complete: (request) => traced('provider.chat', { model: request.model.key }, () => provider.complete(request)),
  stream: (request) => tracedStream('provider.chat', { model: request.model.key }, provider.stream(request)),
  embed: (request) =>
    traced('provider.embed', { model: request.model.key, texts: request.texts.length }, () => provider.embed(request)),
  rerank: (request) =>
    traced('provider.rerank', { model: request.model.key, texts: request.documents.length }, () =>
      provider.rerank(request),
    ),
  mayAnswer: (model) => provider.mayAnswer(model),
  routes: (model) => provider.routes(model),
});

/** The same projections; where traces are sent, each event is applied in a span of the request that it came from. */
export const observeProjections = (projections: readonly Projection[]): readonly Projection[] =>
  isTracing() ? projections.map(inSpans) : projections;

const inSpans = (projection: Projection): Projection => {
  const { apply, name } = projection as RowProjection;
  const applied: RowProjection['apply'] = (event) =>
    tracedIn(
      event.context.correlationId,
      `project ${name}`,
      { eventId: event.context.id, type: event.type, stream: event.context.stream },
      () => apply.call(projection, event),
    );
  return { ...projection, apply: applied } as Projection;
};
