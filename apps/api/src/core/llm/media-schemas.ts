import { presenter } from '@app/http';
import { nameSchema, textSchema } from '@app/kernel';
import { ASPECT_RATIOS, RESOLUTIONS, shownInvocationUsage } from '@app/models';
import { z } from 'zod';

const words = (most: number) => textSchema(most).refine((text) => text.trim() !== '', { message: 'must not be empty' });
const model = (kind: string) =>
  z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe(`The id of a model of the kind ${kind}. By default, the configured one.`);
const dataUrl = z.string().startsWith('data:', 'must be a data URL');

export const imageRequest = z
  .strictObject({
    model: model('image'),
    prompt: words(32_000).describe('What the image should show.'),
    imageConfig: z
      .strictObject({
        aspectRatio: z.enum(ASPECT_RATIOS).default('1:1').describe('Its aspect ratio.'),
        resolution: z.enum(RESOLUTIONS).default('1K').describe('Its approximate width in pixels.'),
      })
      .optional()
      .describe('Its size. By default, the model chooses.'),
    image: dataUrl.optional().describe('An image to edit, as a data URL of PNG, JPEG or WebP.'),
    mask: dataUrl.optional().describe('A mask, as a data URL of PNG: its transparent areas are edited. Needs `image`.'),
    n: z.number().int().min(1).max(10).default(1).describe('The number of images.'),
    seed: z.number().int().optional().describe('The same seed can give the same image.'),
  })
  .refine(({ image, mask }) => mask === undefined || image !== undefined, {
    path: ['mask'],
    message: 'needs an image',
  });

export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp'] as const;

export const transcriptionRequest = z.strictObject({
  model: model('transcription'),
  audioBase64: z.string().min(1).describe('The audio, base64.'),
  mimeType: z
    .enum([
      'audio/mpeg',
      'audio/mp3',
      'audio/wav',
      'audio/x-wav',
      'audio/wave',
      'audio/webm',
      'audio/ogg',
      'audio/flac',
      'audio/x-flac',
      'audio/mp4',
      'audio/m4a',
      'audio/x-m4a',
      'audio/aac',
    ])
    .describe('Its media type.'),
  prompt: words(10_000)
    .optional()
    .describe('A hint for the model: words that are likely to occur, or the style of the text.'),
});

const voiceName = z
  .string()
  .regex(/^[\w .-]{1,100}$/, 'must be the name of a voice')
  .describe("The provider's name of the voice.");

export const speechRequest = z
  .strictObject({
    model: model('speech'),
    text: words(100_000).describe(
      "The text to speak. With speakers, each line starts with the speaker's name and a colon.",
    ),
    voiceName: voiceName.optional().describe('The voice, instead of `speakers`.'),
    speakers: z
      .array(z.strictObject({ name: nameSchema(100).describe('Their name in the text.'), voiceName }))
      .min(1)
      .max(2, 'must have at most 2 speakers')
      .refine((speakers) => new Set(speakers.map(({ name }) => name)).size === speakers.length, {
        message: 'must not name a speaker twice',
      })
      .optional()
      .describe('The speakers, at most 2.'),
  })
  .refine(({ voiceName: voice, speakers }) => (voice === undefined) !== (speakers === undefined), {
    message: 'must have either `voiceName` or `speakers`',
  });

/** What every answer has. */
const made = {
  usage: shownInvocationUsage.describe('Its usage.'),
  model: z.string().describe('The id of the model that answered.'),
  invocationId: z.string().describe('The id of the call in the usage records.'),
};
const base64 = z.string().describe('Its bytes, base64.');

export const generatedImages = presenter(
  'GeneratedImages',
  z.object({
    images: z
      .array(z.object({ base64, mimeType: z.string().describe('Its media type.') }))
      .describe('The images, at least one.'),
    ...made,
  }),
);
export const generatedSpeech = presenter(
  'GeneratedSpeech',
  z.object({ base64, mimeType: z.string().describe('Its media type.'), ...made }),
);
export const transcript = presenter('Transcript', z.object({ text: z.string().describe('The transcript.'), ...made }));
