import type { ModelDescription } from './catalogue';
import type { ModelRequest } from './provider';
import type { TokenUsage } from './usage';

/** An image or a sound. */
export interface Media {
  readonly mediaType: string;
  readonly data: Uint8Array;
}

/** How wide an image is to its height, and about how many pixels it has (specification, Limits). */
export const ASPECT_RATIOS = ['1:1', '4:3', '3:4', '16:9', '9:16'] as const;
export const RESOLUTIONS = ['1K', '2K', '4K'] as const;

/** Asks for so many images. */
export interface ImageRequest extends ModelRequest {
  readonly prompt: string;
  readonly count: number;
  /** Absent: as the model likes it. */
  readonly size?: {
    readonly aspectRatio: (typeof ASPECT_RATIOS)[number];
    readonly resolution: (typeof RESOLUTIONS)[number];
  };
  /** The image that is to be changed, and where: the transparent part of the mask. */
  readonly image?: Media;
  readonly mask?: Media;
  readonly seed?: number;
}

/** Images that a model made. */
export interface Images {
  /** The model that answered. */
  readonly model: ModelDescription;
  /** One at least; at most as many as were asked for. */
  readonly images: readonly Media[];
  /** What its provider reported; absent where that was nothing, or nothing believable. */
  readonly usage?: TokenUsage;
}

/** Asks for a text to be spoken. */
export interface SpeechRequest extends ModelRequest {
  readonly text: string;
  /** A voice by its provider's name. */
  readonly voice: string;
  readonly format: 'mp3' | 'wav';
}

/** A spoken text. */
export interface Speech {
  readonly model: ModelDescription;
  readonly audio: Media;
}

/** Asks for what is said in a sound. */
export interface TranscriptionRequest extends ModelRequest {
  readonly audio: Media;
  /** Words that are likely to be said, or the style of the text. */
  readonly prompt?: string;
}

/** What is said in a sound. Without `usage` and `seconds` where its provider reported none. */
export interface Transcription {
  readonly model: ModelDescription;
  readonly text: string;
  /** How long the sound is, as its provider says. */
  readonly seconds?: number;
  readonly usage?: TokenUsage;
}

/**
 * Whoever runs models that make or hear media. Calls are repeated, go to a fallback that is as trusted, and leave failing providers alone as
 * those of a `Provider` do, and fail as those.
 */
export interface MediaProvider {
  generateImages(request: ImageRequest): Promise<Images>;
  generateSpeech(request: SpeechRequest): Promise<Speech>;
  transcribe(request: TranscriptionRequest): Promise<Transcription>;
  /** The model and its fallback, which may answer in its place. */
  mayAnswer(model: ModelDescription): readonly ModelDescription[];
}
