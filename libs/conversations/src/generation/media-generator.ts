import { CONFIG, type Config } from '@app/kernel';
import {
  estimatedTokens,
  type ImageRequest,
  type Images,
  isUpstreamFailure,
  type KnownUsage,
  type Media,
  type MediaProvider,
  type ModelDescription,
  Models,
  mostTokens,
  type ShownUsage,
  shownUsage,
  type TokenUsage,
  type Transcription,
  type UnitUsage,
  UpstreamFailure,
  usageOf,
} from '@app/models';
import { CallRecord, type Metering, METERING, RepeatedCall } from '@app/spending';
import { Inject, Injectable } from '@nestjs/common';
import { keptText } from '../answering/kept-text';
import { usageSum } from '../answering/usage-sum';
import type { Requester } from '../answering/retriever';
import { generationRejection } from './generator';
import type { Passage } from './script';
import { BYTES_PER_SECOND, secondsOf } from './sound/whole-seconds';
import { joinedWav, readWav, type Wav } from './wav';

/** Tokens of an image where its model is billed by tokens: as many as the largest has. */
const IMAGE_TOKENS = 6_240;
/** Tokens of a second of sound where its model is billed by tokens, about. */
const SECOND_TOKENS = 20;
/** Names of fields upstream, and what a caller calls them. */
const FIELDS = {
  n: 'n',
  size: 'imageConfig',
  image: 'image',
  mask: 'mask',
  seed: 'seed',
  voice: 'voiceName',
  input: 'text',
  prompt: 'prompt',
  file: 'audioBase64',
};

/** Whom a call is made for. */
export interface MediaCaller {
  readonly agent: { readonly agentId: string; readonly spaceId: string };
  readonly requester: Requester;
  /** Key of a model of the kind; null for the default one. */
  readonly model: string | null;
  /** Ends the call at once; its provider bills it whole. */
  readonly signal: AbortSignal;
}

/** What every answer has. */
interface Made {
  readonly usage: ShownUsage;
  /** Key of the model that answered. */
  readonly model: string;
  readonly invocationId: string;
}

/** What is known of a call before it is made: the most that it may take. */
interface Asked {
  readonly kind: 'image' | 'speech' | 'transcription';
  readonly units: UnitUsage;
  readonly tokens: TokenUsage;
  readonly mostInput: number;
}

/** What came of it. `units`: of the call that answered. */
interface Answered<T> {
  readonly made: T;
  readonly model: ModelDescription;
  readonly units: UnitUsage;
  readonly usage?: TokenUsage;
  /** The usage if its provider reports none; by default, the expected one. */
  readonly counted?: TokenUsage;
}

/** A call under way: bills a try that broke off, and holds the next. */
interface Making {
  readonly calls: RepeatedCall;
  readonly onBrokenOff: (failure: UpstreamFailure) => Promise<void>;
}

/**
 * Images, speech and transcripts. Each is an invocation that reserves the price of the request and is billed for what
 * was made. An attempt that its provider broke off is billed for the whole request. Rejects `usage_limit_exceeded`,
 * `model_not_available`, `unsupported_parameter`, `upstream_error` and `upstream_timeout`; throws the signal's reason
 * if it was aborted.
 */
@Injectable()
export class MediaGenerator {
  constructor(
    private readonly models: Models,
    @Inject(METERING) private readonly metering: Metering,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async images(
    caller: MediaCaller,
    asked: Omit<ImageRequest, 'model' | 'signal'>,
  ): Promise<Made & { readonly images: Images['images'] }> {
    const { model, provider } = this.models.media('image', caller.model);
    const files = [asked.image, asked.mask].filter((file) => file !== undefined).length * IMAGE_TOKENS;
    const expected: Asked = {
      kind: 'image',
      units: { images: asked.count },
      tokens: usageOf({ input: estimatedTokens(asked.prompt) + files, output: asked.count * IMAGE_TOKENS }),
      mostInput: mostTokens(asked.prompt) + files,
    };
    const { made, ...rest } = await this.metered(caller, { model, provider }, expected, async ({ onBrokenOff }) => {
      const request = { ...asked, model, signal: caller.signal, onBrokenOff };
      const { images, ...answer } = await provider.generateImages(request);
      return { made: images, units: { images: images.length }, ...answer };
    });
    return { images: made, ...rest };
  }

  /** `seconds` that the provider tells are billed; else those of the sound. */
  async transcript(
    caller: MediaCaller,
    audio: Media,
    prompt: string | undefined,
  ): Promise<Made & Pick<Transcription, 'text'>> {
    const { model, provider } = this.models.media('transcription', caller.model);
    const seconds = secondsOf(audio, BYTES_PER_SECOND.held);
    const input = seconds * SECOND_TOKENS + estimatedTokens(prompt ?? '');
    const expected: Asked = {
      kind: 'transcription',
      units: { seconds },
      tokens: usageOf({ input, output: seconds * SECOND_TOKENS }),
      mostInput: input,
    };
    const { made, ...rest } = await this.metered(caller, { model, provider }, expected, async ({ onBrokenOff }) => {
      const said = prompt === undefined ? {} : { prompt };
      const request = { model, audio, ...said, signal: caller.signal, onBrokenOff };
      const { text, seconds: told, ...answer } = await provider.transcribe(request);
      return {
        made: keptText(text),
        units: { seconds: told === undefined ? secondsOf(audio, BYTES_PER_SECOND.counted) : Math.ceil(told) },
        ...answer,
      };
    });
    return { text: made, ...rest };
  }

  /** What each voice says, one after another, as one sound. */
  async speech(caller: MediaCaller, passages: readonly Passage[]): Promise<Made & { readonly audio: Media }> {
    const { model, provider } = this.models.media('speech', caller.model);
    const texts = passages.map(({ text }) => text);
    const characters = charactersOf(texts);
    const tokens = speechTokens(texts);
    const expected: Asked = { kind: 'speech', units: { characters }, tokens, mostInput: tokens.inputTokens };
    const { made, ...rest } = await this.metered(
      caller,
      { model, provider },
      expected,
      async ({ calls, onBrokenOff }) => {
        const format = passages.length > 1 ? 'wav' : 'mp3';
        const sounds: Media[] = [];
        // By the running call: its output stays billed, whatever happens to the rest.
        let spoken: readonly string[] = [];
        const says = (text: string, by: ModelDescription): void => {
          spoken = [...spoken, text];
          calls.now.servedBy(by);
          calls.now.used(usageOfSpeech(spoken, by));
        };
        let served = model;
        for (const { voice, text } of passages) {
          const broken = async (failure: UpstreamFailure): Promise<void> => {
            says(text, failure.facts.work?.model ?? model);
            spoken = [];
            await onBrokenOff(failure);
          };
          const { audio, model: by } = await provider
            .generateSpeech({ model, text, voice, format, signal: caller.signal, onBrokenOff: broken })
            .catch((error: unknown) => {
              if (isUpstreamFailure(error) && error.facts.work !== undefined) says(text, error.facts.work.model);
              throw error;
            });
          sounds.push(audio);
          served = by;
          says(text, by);
        }
        return {
          made: joined(sounds),
          model: served,
          units: { characters: charactersOf(spoken) },
          counted: speechTokens(spoken),
        };
      },
    );
    return { audio: made, ...rest };
  }

  private async metered<T>(
    { agent: { agentId, spaceId }, requester: { userId, keyId }, signal }: MediaCaller,
    { model, provider }: { readonly model: ModelDescription; readonly provider: MediaProvider },
    { kind, units, tokens, mostInput }: Asked,
    make: (making: Making) => Promise<Answered<T>>,
  ): Promise<Made & { readonly made: T }> {
    const { metering, models } = this;
    const { DEFAULT_CURRENCY: currency } = this.config;
    const mayAnswer = provider.mayAnswer(model);
    // Where none is billed by them, nobody knows of tokens.
    const held = mayAnswer.some(isBilledByTokens) ? tokens.outputTokens : 0;
    const begin = async (): Promise<CallRecord> => {
      const call = await metering.begin({
        userId,
        ...(keyId === undefined ? {} : { keyId }),
        agentId,
        spaceId,
        kind,
        isAskedFor: true,
        model,
        mayAnswer,
        estimate: tokens,
        mostInput,
        units,
      });
      if (signal.aborted) {
        call.cancel();
        throw signal.reason;
      }
      return new CallRecord(call, model, held, models.rates, units);
    };
    const calls = await RepeatedCall.begin(begin);
    const seen = usageOf({ input: isBilledByTokens(model) ? tokens.inputTokens : 0 });
    try {
      const answer = await make({ calls, onBrokenOff: (failure) => calls.again(failure, seen) });
      const record = calls.now;
      record.servedBy(answer.model);
      record.used({
        usage: answer.usage ?? (isBilledByTokens(answer.model) ? (answer.counted ?? tokens) : usageOf({})),
        units: answer.units,
        source: answer.usage === undefined ? 'counted' : 'upstream',
      });
      record.succeeded();
      return {
        made: answer.made,
        usage: shownUsage(calls.all.map((each) => each.bill(currency)).reduce(usageSum), unitsOf(calls.all)),
        model: answer.model.key,
        invocationId: record.id,
      };
    } catch (error) {
      if (signal.aborted) calls.stopped();
      calls.failed(error, seen);
      throw signal.aborted ? signal.reason : generationRejection(error, FIELDS);
    } finally {
      calls.settle();
    }
  }
}

const unitsOf = (calls: readonly CallRecord[]): UnitUsage => {
  const sum: { -readonly [name in keyof UnitUsage]: number } = {};
  for (const { units } of calls)
    for (const [name, count] of Object.entries(units ?? {}))
      sum[name as keyof UnitUsage] = (sum[name as keyof UnitUsage] ?? 0) + count;
  return sum;
};

const usageOfSpeech = (texts: readonly string[], model: ModelDescription): KnownUsage => ({
  usage: isBilledByTokens(model) ? speechTokens(texts) : usageOf({}),
  units: { characters: charactersOf(texts) },
  source: 'counted',
});

/** Tokens of the spoken text, if its model is billed by tokens. */
const speechTokens = (texts: readonly string[]): TokenUsage =>
  usageOf({ input: texts.reduce((sum, text) => sum + mostTokens(text), 0), output: charactersOf(texts) * 2 });

/** Whether no price of a unit says what a call costs, but those of tokens do. */
const isBilledByTokens = ({ pricing }: ModelDescription): boolean =>
  pricing !== 'free' &&
  [pricing.perImage, pricing.perMillionCharacters, pricing.perMinute].every((price) => price === undefined);

/** Characters as people count them in code: what is outside the basic plane is one. */
const charactersOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + [...text].length, 0);

/** Throws `UpstreamFailure` for sounds that are not written alike. */
const joined = (sounds: readonly Media[]): Media => {
  const [first] = sounds;
  if (sounds.length === 1 && first !== undefined) return first;
  const files = sounds.map(({ data }) => readWav(data)).filter((wav): wav is Wav => wav !== undefined);
  const data = files.length === sounds.length ? joinedWav(files) : undefined;
  if (data === undefined) throw new UpstreamFailure('broken');
  return { mediaType: 'audio/wav', data };
};
