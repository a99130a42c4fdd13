import {
  estimatedTokens,
  type ImageRequest,
  type Images,
  isUpstreamFailure,
  type KnownUsage,
  type Media,
  type MediaProvider,
  type ModelDescription,
  type Models,
  mostTokens,
  type ShownUsage,
  shownUsage,
  type TokenUsage,
  type Transcription,
  type UnitUsage,
  UpstreamFailure,
  usageOf,
} from '@app/models';
import { CallRecord, type Metering } from '@app/spending';
import type { Asker } from '../answering/retriever';
import { generationRejection } from './generator';
import type { Passage } from './script';
import { soundSeconds } from './sound/sound-length';
import { joinedWav, readWav, type Wav } from './wav';

/** Tokens of an image where its model is billed by tokens: as many as the largest has. */
const IMAGE_TOKENS = 6_240;
/** Tokens of a second of sound where its model is billed by tokens, about. */
const SECOND_TOKENS = 20;
/** Bytes of a second of sound whose length nobody says: held as of speech on a telephone, billed as of speech that is kept. */
const BYTES_PER_SECOND = { held: 1_500, counted: 8_000 };

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

/** Sound has more bytes a second, whatever it is written in: a file that says it is longer lies, and is billed no more. */
const LEAST_BYTES_PER_SECOND = 250;

/** Whom a call is made for. */
export interface MediaCaller {
  readonly agent: { readonly agentId: string; readonly spaceId: string };
  readonly asker: Asker;
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

export interface MediaGeneratorParts {
  readonly models: Pick<Models, 'media' | 'rates'>;
  readonly metering: Metering;
  readonly currency: string;
}

/** What is known of a call before it is made: the most that it may take. */
interface Asked {
  readonly kind: 'image' | 'speech' | 'transcription';
  readonly units: UnitUsage;
  readonly tokens: TokenUsage;
  readonly mostInput: number;
}

/** What came of it. */
interface Answered<T> {
  readonly made: T;
  readonly model: ModelDescription;
  readonly units: UnitUsage;
  readonly usage?: TokenUsage;
}

/**
 * Images, speech and transcripts. Each is an invocation that holds the price of what is asked for and is billed by what was made. Rejects
 * `usage_limit_exceeded`, `model_not_available`, `unsupported_parameter`, `upstream_error` and `upstream_timeout`; throws the signal's
 * reason where that was aborted.
 */
export class MediaGenerator {
  constructor(private readonly parts: MediaGeneratorParts) {}

  async images(
    caller: MediaCaller,
    asked: Omit<ImageRequest, 'model' | 'signal'>,
  ): Promise<Made & { readonly images: Images['images'] }> {
    const { model, provider } = this.parts.models.media('image', caller.model);
    const files = [asked.image, asked.mask].filter((file) => file !== undefined).length * IMAGE_TOKENS;
    const expected: Asked = {
      kind: 'image',
      units: { images: asked.count },
      tokens: usageOf({ input: estimatedTokens(asked.prompt) + files, output: asked.count * IMAGE_TOKENS }),
      mostInput: mostTokens(asked.prompt) + files,
    };
    const { made, ...rest } = await this.metered(caller, { model, provider }, expected, async () => {
      const { images, ...answer } = await provider.generateImages({ ...asked, model, signal: caller.signal });
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
    const { model, provider } = this.parts.models.media('transcription', caller.model);
    const seconds = secondsOf(audio, BYTES_PER_SECOND.held);
    const input = seconds * SECOND_TOKENS + estimatedTokens(prompt ?? '');
    const expected: Asked = {
      kind: 'transcription',
      units: { seconds },
      tokens: usageOf({ input, output: seconds * SECOND_TOKENS }),
      mostInput: input,
    };
    const { made, ...rest } = await this.metered(caller, { model, provider }, expected, async () => {
      const request = { model, audio, ...(prompt === undefined ? {} : { prompt }), signal: caller.signal };
      const { text, seconds: told, ...answer } = await provider.transcribe(request);
      return {
        made: text,
        units: { seconds: told === undefined ? secondsOf(audio, BYTES_PER_SECOND.counted) : Math.ceil(told) },
        ...answer,
      };
    });
    return { text: made, ...rest };
  }

  /** What each voice says, one after another, as one sound. */
  async speech(caller: MediaCaller, passages: readonly Passage[]): Promise<Made & { readonly audio: Media }> {
    const { model, provider } = this.parts.models.media('speech', caller.model);
    const characters = passages.reduce((sum, { text }) => sum + charactersOf(text), 0);
    const input = passages.reduce((sum, { text }) => sum + mostTokens(text), 0);
    const expected: Asked = {
      kind: 'speech',
      units: { characters },
      tokens: usageOf({ input, output: characters * 2 }),
      mostInput: input,
    };
    const { made, ...rest } = await this.metered(caller, { model, provider }, expected, async (record) => {
      const format = passages.length > 1 ? 'wav' : 'mp3';
      const sounds: Media[] = [];
      let [served, spoken] = [model, 0];
      for (const { voice, text } of passages) {
        const said = spoken + charactersOf(text);
        const { audio, model: by } = await provider
          .generateSpeech({ model, text, voice, format, signal: caller.signal })
          .catch((error: unknown) => {
            if (isUpstreamFailure(error) && error.facts.work !== undefined) record.used(spokenUntil(said));
            throw error;
          });
        sounds.push(audio);
        served = by;
        spoken = said;
        // What was made stays to be billed, whatever becomes of the rest.
        record.servedBy(by);
        record.used(spokenUntil(spoken));
      }
      return { made: joined(sounds), model: served, units: { characters: spoken } };
    });
    return { audio: made, ...rest };
  }

  private async metered<T>(
    { agent: { agentId, spaceId }, asker: { userId, keyId }, signal }: MediaCaller,
    { model, provider }: { readonly model: ModelDescription; readonly provider: MediaProvider },
    { kind, units, tokens, mostInput }: Asked,
    make: (record: CallRecord) => Promise<Answered<T>>,
  ): Promise<Made & { readonly made: T }> {
    const { metering, models, currency } = this.parts;
    const call = await metering.begin({
      userId,
      ...(keyId === undefined ? {} : { keyId }),
      agentId,
      spaceId,
      kind,
      isAskedFor: true,
      model,
      mayAnswer: provider.mayAnswer(model),
      estimate: tokens,
      mostInput,
      units,
    });
    if (signal.aborted) {
      call.cancel();
      throw signal.reason;
    }
    const record = new CallRecord(call, model, tokens.outputTokens, models.rates, units);
    try {
      const answer = await make(record);
      record.servedBy(answer.model);
      record.used({
        usage: answer.usage ?? (isBilledByTokens(answer.model) ? tokens : usageOf({})),
        units: answer.units,
        source: answer.usage === undefined ? 'counted' : 'upstream',
      });
      record.succeeded();
      return {
        made: answer.made,
        usage: shownUsage(record.bill(currency), answer.units),
        model: answer.model.key,
        invocationId: record.id,
      };
    } catch (error) {
      if (signal.aborted) record.stopped();
      record.failed(error, usageOf({ input: isBilledByTokens(model) ? tokens.inputTokens : 0 }));
      throw signal.aborted ? signal.reason : generationRejection(error, FIELDS);
    } finally {
      record.settle();
    }
  }
}

const spokenUntil = (characters: number): KnownUsage => ({
  usage: usageOf({}),
  units: { characters },
  source: 'counted',
});

/** Whether no price of a unit says what a call costs, but those of tokens do. */
const isBilledByTokens = ({ pricing }: ModelDescription): boolean =>
  pricing !== 'free' &&
  [pricing.perImage, pricing.perMillionCharacters, pricing.perMinute].every((price) => price === undefined);

/** Characters as people count them in code: what is outside the basic plane is one. */
const charactersOf = (text: string): number => [...text].length;

/** How long a sound is, seconds: as its file says, as far as that can be, else by its size. */
const secondsOf = ({ data }: Media, bytesPerSecond: number): number => {
  const told = soundSeconds(data);
  const seconds =
    told === undefined ? data.byteLength / bytesPerSecond : Math.min(told, data.byteLength / LEAST_BYTES_PER_SECOND);
  return Math.max(1, Math.ceil(seconds));
};

/** Throws `UpstreamFailure` for sounds that are not written alike. */
const joined = (sounds: readonly Media[]): Media => {
  const [first] = sounds;
  if (sounds.length === 1 && first !== undefined) return first;
  const files = sounds.map(({ data }) => readWav(data)).filter((wav): wav is Wav => wav !== undefined);
  const data = files.length === sounds.length ? joinedWav(files) : undefined;
  if (data === undefined) throw new UpstreamFailure('broken');
  return { mediaType: 'audio/wav', data };
};
