import type { ModelDescription } from '../catalogue';
import type {
  ImageRequest,
  Images,
  Media,
  MediaProvider,
  Speech,
  SpeechRequest,
  Transcription,
  TranscriptionRequest,
} from '../media';
import { isAsTrusted } from '../security-tier';
import { audioType, imageType } from './media-types';
import type { Exchange } from './exchange';
import { UpstreamFailure, type UpstreamWork } from './failure';
import { answered, inFormat } from './openai-provider';
import { believedUsage, noAnswer } from './reported-usage';
import type { Route } from './upstream-call';
import type { UpstreamBody } from './upstream';

type Fields = Readonly<Record<string, unknown>>;

/** Sound has more bytes a second, whatever it is written in. */
const LEAST_BYTES_PER_SECOND = 250;

/** Models that make and hear media, of providers that speak the OpenAI API. */
export class OpenAiMedia implements MediaProvider {
  constructor(private readonly byModel: ReadonlyMap<string, readonly Route[]>) {}

  mayAnswer(model: ModelDescription): readonly ModelDescription[] {
    return (this.byModel.get(model.key) ?? []).map((route) => route.model);
  }

  generateImages(request: ImageRequest): Promise<Images> {
    const { prompt, count, image, mask, seed } = request;
    return answered(this.trusted(request.model), request, async ({ route: { model }, send }) => {
      const fields = {
        model: model.modelId,
        prompt,
        n: count,
        ...(request.size === undefined ? {} : { size: sizeOf(request.size, model) }),
        ...(seed === undefined ? {} : { seed }),
      };
      const ask = async (format: Fields): Promise<Exchange> => {
        if (image === undefined) return send('images/generations', JSON.stringify({ ...fields, ...format }));
        return send(
          'images/edits',
          await form({ ...fields, ...format }, { image, ...(mask === undefined ? {} : { mask }) }),
        );
      };
      // Newer models of OpenAI give nothing else, and reject the field.
      const exchange = await inFormat(ask, isGptImage(model) ? {} : { response_format: 'b64_json' }, {});
      const answer = jsonIn(await exchange.whole());
      const images = imagesIn(answer, count, { model, ms: exchange.ms });
      return { model, images, ...reported(answer, model) };
    });
  }

  generateSpeech(request: SpeechRequest): Promise<Speech> {
    const { text, voice, format } = request;
    return answered(this.trusted(request.model), request, async ({ route: { model }, send }) => {
      const body = { model: model.modelId, input: text, voice, response_format: format };
      const data = await (await send('audio/speech', JSON.stringify(body))).whole();
      const mediaType = audioType(data);
      // Errors that come with 200 are words.
      if (mediaType === undefined) throw new UpstreamFailure('broken');
      return { model, audio: { mediaType, data } };
    });
  }

  transcribe(request: TranscriptionRequest): Promise<Transcription> {
    const { audio, prompt } = request;
    return answered(this.trusted(request.model), request, async ({ route: { model }, send }) => {
      const fields = {
        model: model.modelId,
        ...(prompt === undefined ? {} : { prompt }),
      };
      const ask = async (format: Fields): Promise<Exchange> =>
        send('audio/transcriptions', await form({ ...fields, ...format }, { file: audio }));
      // The longer form says how long the sound is; newer models of OpenAI have the short one alone, and say it there.
      const short = { response_format: 'json' };
      const preferred = model.modelId.startsWith('gpt-') ? short : { response_format: 'verbose_json' };
      const answer = jsonIn(await (await inFormat(ask, preferred, short)).whole());
      const { text } = answer;
      if (typeof text !== 'string') throw noAnswer(answer['usage'], model);
      return { model, text, ...secondsIn(answer, audio), ...reported(answer, model) };
    });
  }

  private trusted(model: ModelDescription): readonly Route[] {
    const routes = this.byModel.get(model.key) ?? [];
    return routes.filter((route) => isAsTrusted(route.model.securityTier, model.securityTier));
  }
}

const isGptImage = ({ modelId }: ModelDescription): boolean => /^(?:chat)?gpt-image/.test(modelId);

/** Pixels of the shorter and the longer side, at 1K. */
const SIDES = {
  '1:1': [1_024, 1_024],
  '4:3': [1_184, 864],
  '3:4': [864, 1_184],
  '16:9': [1_344, 768],
  '9:16': [768, 1_344],
} as const;
const FACTORS = { '1K': 1, '2K': 2, '4K': 4 } as const;

/** As `WIDTHxHEIGHT`. Models of OpenAI make three sizes: the one that is nearest. */
const sizeOf = ({ aspectRatio, resolution }: NonNullable<ImageRequest['size']>, model: ModelDescription): string => {
  const [width, height] = SIDES[aspectRatio];
  if (isGptImage(model)) return width === height ? '1024x1024' : width > height ? '1536x1024' : '1024x1536';
  return `${width * FACTORS[resolution]}x${height * FACTORS[resolution]}`;
};

/** A multipart form: fields, then files. */
const form = async (fields: Fields, files: Readonly<Record<string, Media>>): Promise<UpstreamBody> => {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.set(name, String(value));
  for (const [name, { mediaType, data: bytes }] of Object.entries(files))
    data.set(name, new Blob([Uint8Array.from(bytes)], { type: mediaType }), `${name}.${extensionOf(mediaType)}`);
  const response = new Response(data);
  return {
    type: response.headers.get('content-type') as string,
    bytes: new Uint8Array(await response.arrayBuffer()),
  };
};

/** Providers tell what a file is by its name. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'audio/mpeg': 'mp3',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/x-m4a': 'm4a',
  'audio/mp4': 'm4a',
  'audio/x-flac': 'flac',
};
const extensionOf = (mediaType: string): string => EXTENSIONS[mediaType] ?? mediaType.split('/')[1] ?? 'bin';

const jsonIn = (body: Buffer): Fields => {
  const answer: unknown = JSON.parse(body.toString().replace(/^\ufeff/, ''));
  if (typeof answer !== 'object' || answer === null) throw new UpstreamFailure('broken');
  return answer as Fields;
};

/**
 * Images as they come in an answer. Those that are named by an address are not fetched. A provider that gives images in a form that nobody
 * takes would give the next ones alike: it is asked no more, and bills them.
 */
const imagesIn = ({ data, usage }: Fields, most: number, work: UpstreamWork): readonly Media[] => {
  const entries = Array.isArray(data) ? (data as (Fields | null)[]) : [];
  if (entries.length === 0) throw noAnswer(usage, work.model);
  return entries.slice(0, most).map((entry) => {
    const text = entry?.['b64_json'];
    const bytes = Buffer.from(typeof text === 'string' ? text : '', 'base64');
    const mediaType = imageType(bytes);
    if (mediaType === undefined) throw new UpstreamFailure('broken', { status: 200, work });
    return { mediaType, data: bytes };
  });
};

const reported = (answer: Fields, model: ModelDescription) => {
  const usage = believedUsage(answer['usage'], model, true);
  return usage === undefined ? {} : { usage };
};

/** A length that no sound of so many bytes has is not believed. */
const secondsIn = (answer: Fields, { data }: Media): Pick<Transcription, 'seconds'> => {
  const usage = answer['usage'] as Fields | null | undefined;
  const seconds = typeof usage?.['seconds'] === 'number' ? usage['seconds'] : Number(answer['duration'] ?? NaN);
  return seconds > 0 && seconds <= Math.max(1, data.byteLength / LEAST_BYTES_PER_SECOND) ? { seconds } : {};
};
