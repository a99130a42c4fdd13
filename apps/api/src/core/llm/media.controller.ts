import type { Caller } from '@app/access';
import { type MediaCaller, MediaGenerator, passagesOf } from '@app/conversations';
import {
  Accepts,
  Answers,
  BodyInput,
  CurrentCaller,
  Documented,
  type Input,
  type JsonText,
  LARGE_JSON_LIMIT,
  Rejects,
  Requires,
  Writes,
} from '@app/http';
import { imageType, type Media } from '@app/models';
import { Controller, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { type GenerationCall, GenerationCalls, REJECTIONS } from './generation-calls';
import { bytesIn, dataOf, generated, invalidField } from './generation-request';
import {
  generatedImages,
  generatedSpeech,
  IMAGE_TYPES,
  imageRequest,
  speechRequest,
  transcript,
  transcriptionRequest,
} from './media-schemas';

/** Passages of a dialogue at most: each is a call of its own. */
const MOST_PASSAGES = 100;

/** Images, speech and transcripts of Agents. */
@Documented('Generation')
@Controller('/api/v1/core/llm/:agentId')
export class MediaController {
  constructor(
    private readonly calls: GenerationCalls,
    private readonly media: MediaGenerator,
    private readonly writes: Writes,
  ) {}

  @Post('generateImage')
  @HttpCode(200)
  @Requires('llm')
  @ApiOperation({ operationId: 'generateImage', summary: 'Generates images, or edits one. Billed per image.' })
  @Accepts({ limit: LARGE_JSON_LIMIT })
  @Answers(200, generatedImages.schema)
  @Rejects(...REJECTIONS)
  async image(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(imageRequest) body: Input<typeof imageRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonText> {
    const call = await this.calls.begin(caller, agentId, reply);
    const { model, prompt, imageConfig, image, mask, n, seed } = body.parse();
    const { images, ...made } = await this.media.images(calledBy(call, model), {
      prompt,
      count: n,
      ...(imageConfig === undefined ? {} : { size: imageConfig }),
      ...(image === undefined ? {} : { image: fileOf('image', image, IMAGE_TYPES) }),
      ...(mask === undefined ? {} : { mask: fileOf('mask', mask, ['image/png']) }),
      ...(seed === undefined ? {} : { seed }),
    });
    return this.writes.answerTogether(
      reply,
      [],
      generated(caller, generatedImages({ images: images.map(shown), ...made })),
    );
  }

  @Post('generateSpeech')
  @HttpCode(200)
  @Requires('llm')
  @ApiOperation({
    operationId: 'generateSpeech',
    summary: 'Converts text to speech, in one voice, or a dialogue in two. Billed per character.',
  })
  @Accepts({ limit: LARGE_JSON_LIMIT })
  @Answers(200, generatedSpeech.schema)
  @Rejects(...REJECTIONS)
  async speech(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(speechRequest) body: Input<typeof speechRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonText> {
    const call = await this.calls.begin(caller, agentId, reply);
    const { model, text, voiceName, speakers } = body.parse();
    const passages = speakers === undefined ? [{ voice: voiceName as string, text }] : passagesOf(text, speakers);
    if (passages.length === 0) throw invalidField('text', 'Must contain text besides the names of speakers.');
    if (passages.length > MOST_PASSAGES)
      throw invalidField('text', `Must not switch speakers more than ${MOST_PASSAGES} times.`);
    const { audio, ...made } = await this.media.speech(calledBy(call, model), passages);
    return this.writes.answerTogether(reply, [], generated(caller, generatedSpeech({ ...shown(audio), ...made })));
  }

  @Post('transcribe')
  @HttpCode(200)
  @Requires('llm')
  @ApiOperation({
    operationId: 'transcribe',
    summary: 'Transcribes audio. Billed per second.',
  })
  @Accepts({ limit: LARGE_JSON_LIMIT })
  @Answers(200, transcript.schema)
  @Rejects(...REJECTIONS)
  async transcribe(
    @CurrentCaller() caller: Caller,
    @Param('agentId') agentId: string,
    @BodyInput(transcriptionRequest) body: Input<typeof transcriptionRequest>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<JsonText> {
    const call = await this.calls.begin(caller, agentId, reply);
    const { model, audioBase64, mimeType, prompt } = body.parse();
    const data = bytesIn(audioBase64) ?? raise(invalidField('audioBase64', 'Must be base64.'));
    const made = await this.media.transcript(calledBy(call, model), { mediaType: mimeType, data }, prompt);
    return this.writes.answerTogether(reply, [], generated(caller, transcript(made)));
  }
}

/** Whom a call of a model is made for, by its key; null for the default one. */
const calledBy = (
  { agent: { agentId, spaceId }, ...rest }: GenerationCall,
  model: string | undefined,
): MediaCaller => ({
  agent: { agentId, spaceId },
  model: model ?? null,
  ...rest,
});

const shown = ({ mediaType, data }: Media) => ({ base64: Buffer.from(data).toString('base64'), mimeType: mediaType });

/** An image is what its bytes are, whatever its address calls it. */
const fileOf = (path: string, url: string, types: readonly string[]): Media => {
  const data = types.map((type) => dataOf(url, type)).find((bytes) => bytes !== undefined);
  const mediaType = data === undefined ? undefined : imageType(data);
  if (data === undefined || mediaType === undefined || !types.includes(mediaType))
    throw invalidField(path, `Must be a data URL such as data:${types[0]};base64,… of ${types.join(', ')}.`);
  return { mediaType, data };
};

const raise = (error: Error): never => {
  throw error;
};
