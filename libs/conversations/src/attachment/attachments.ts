import { BLOBS, type Blobs, discardBodies, type OpenBody, openWhileThere } from '@app/blobs';
import { type Extraction, ExtractionFailure, Parser } from '@app/extraction';
import {
  type Clock,
  CLOCK,
  type CommandMeta,
  Decisions,
  deriveId,
  eachOfAll,
  isErased,
  isUnavailable,
  type Position,
  type Receipt,
  reject,
  Semaphore,
  stepOf,
  streamOf,
  unlessLeft,
} from '@app/kernel';
import { type FileContent, imageSizeOf, Models, seesImages } from '@app/models';
import { Inject, Injectable } from '@nestjs/common';
import type { AnsweringAgent } from '../answering/answering';
import type { SaidMessage } from '../answering/said-message';
import { wordsOf } from '../answering/shown-parts';
import type { Participants } from '../conversation/conversation.commands';
import type { FilePart, QuestionPart, TextPart } from '../conversation/message-parts';
import { type Attachment, attachmentDecider } from './attachment.decider';
import { FileClaims } from './file-claims';
import { FileReferences } from './file-references';
import { isImage, mediaTypeOf, MOST_FILE_BYTES } from './media-type';

/** How long a file waits for a message that names it. */
const LASTS_MS = 24 * 60 * 60_000;
/** A question that named it just in time is recorded by then. */
const GRACE_MS = 60 * 60_000;
/** How often expired files are looked for. */
const SWEEP_EVERY_MS = 60_000;
/** Characters that are read in a file. */
const MOST_TEXT = 50_000;
/** Bytes of the images that a model is shown at once, the newest first. */
const MOST_IMAGE_BYTES = 20 * 1024 ** 2;
/** Files that are read at once, each in a process of its own; and how long one may take, milliseconds. */
const READ_AT_ONCE = 2;
const READ_MS = 30_000;

/** A file to attach. */
export interface GivenFile {
  readonly filename: string;
  readonly mediaType: string;
  readonly body: Buffer;
}

/** A part of a question as it was sent. `path` names the field. */
export type GivenPart =
  | TextPart
  | { readonly type: 'file'; readonly path: string; readonly fileId: string }
  | ({ readonly type: 'file'; readonly path: string } & GivenFile);

/** A file that is there. */
export type Attached = Extract<Attachment, { status: 'present' }>;

/** Whose file, for questions to which Agent. */
export interface AttachmentOwner extends Participants {
  readonly spaceId: string;
}

/** Files that users attach to questions: each is a separate stream with its own data key. */
@Injectable()
export class Attachments {
  private readonly reading = new Semaphore(READ_AT_ONCE);
  private sweptAt = 0;

  constructor(
    private readonly decisions: Decisions,
    @Inject(BLOBS) private readonly blobs: Pick<Blobs, 'put' | 'open' | 'get' | 'remove'>,
    private readonly parser: Parser,
    private readonly models: Models,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly references: FileReferences,
    private readonly files: FileClaims,
  ) {}

  /** Stores a file with what is read in it. A repeat of the command finds it stored. Rejects `too_large` and `unsupported_media_type`. */
  async add(
    fileId: string,
    { userId, agentId, spaceId }: AttachmentOwner,
    { filename, mediaType: declared, body }: GivenFile,
    meta: CommandMeta,
  ): Promise<Receipt> {
    if (body.length > MOST_FILE_BYTES)
      return reject('too_large', { bytes: body.length, limit: MOST_FILE_BYTES, reason: 'attachment' });
    const mediaType =
      mediaTypeOf(body, declared, filename) ?? reject('unsupported_media_type', { header: 'attachment' });
    const text = await this.textIn({ filename, mediaType, body });
    const size = isImage(mediaType) ? imageSizeOf(body) : undefined;
    const stream = streamOf(attachmentDecider.category, fileId);
    const stored: string[] = [];
    const store = async (bytes: Buffer): Promise<string> => {
      const { name } = await this.blobs.put(stream, bytes, { userId, spaceId });
      stored.push(name);
      return name;
    };
    try {
      const file = await store(body);
      const attachment = {
        fileId,
        agentId,
        spaceId,
        userId,
        filename,
        mediaType,
        file,
        sizeBytes: body.length,
        expiresAt: new Date(meta.now.getTime() + LASTS_MS).toISOString(),
        ...(size === undefined ? {} : { size }),
        ...(text === '' ? {} : { text: await store(Buffer.from(text)) }),
      };
      const receipt = await this.decisions.transact(attachmentDecider, fileId, { type: 'Add', attachment }, meta);
      if (receipt.eventIds.length === 0 || receipt.repeated) await unlessLeft(() => this.removeUnnamed(fileId, stored));
      return receipt;
    } catch (error) {
      if (!(isUnavailable(error) && error.outcome === 'unknown')) await discardBodies(this.blobs, stored);
      throw error;
    }
  }

  /**
   * A file that its user may read, and name in a question: until it expires, and as long as a message names it. Rejects `not_found` alike for
   * what is unknown, expired, deleted, of another user or another Agent.
   */
  async own({ userId, agentId }: Participants, fileId: string, path?: string): Promise<Attached> {
    const { state } = await this.decisions.load(attachmentDecider, fileId);
    const isThere =
      state.status === 'present' &&
      state.userId === userId &&
      state.agentId === agentId &&
      !isErased(state.filename) &&
      (Date.parse(state.expiresAt) > this.clock.now().getTime() || (await this.references.isNamed(fileId)));
    return isThere ? state : reject('not_found', { kind: 'file', id: fileId, ...(path === undefined ? {} : { path }) });
  }

  /** Opens such a file as it was uploaded, for an answer that may be read slowly. Rejects as `own`, also where it is deleted meanwhile. */
  async open(
    participants: Participants,
    fileId: string,
  ): Promise<{ readonly attached: Attached; readonly body: OpenBody }> {
    const attached = await this.own(participants, fileId);
    const gone = (): never => reject('not_found', { kind: 'file', id: fileId });
    const stream = streamOf(attachmentDecider.category, fileId);
    return { attached, body: await openWhileThere(this.blobs, stream, attached.file, gone) };
  }

  /** Calls `ask` with the parts of a question for the log: sent files are stored, named files are looked up, and are not deleted until `ask` has recorded the question. */
  asking<T>(
    given: readonly GivenPart[],
    owner: AttachmentOwner,
    meta: CommandMeta,
    ask: (parts: readonly QuestionPart[]) => Promise<T>,
  ): Promise<T> {
    const named = given.flatMap((part) => (part.type === 'file' && 'fileId' in part ? [part.fileId] : []));
    return this.files.holding(named, async () => ask(await this.partsOf(given, owner, meta)));
  }

  private async partsOf(
    given: readonly GivenPart[],
    owner: AttachmentOwner,
    meta: CommandMeta,
  ): Promise<readonly QuestionPart[]> {
    // Nothing is stored for a question that names what is not there.
    for (const part of given)
      if (part.type === 'file' && 'fileId' in part) await this.own(owner, part.fileId, `${part.path}.fileId`);
    const parts: QuestionPart[] = [];
    for (const [index, part] of given.entries())
      if (part.type === 'text') parts.push(part);
      else if ('fileId' in part) parts.push(await this.partOf(owner, part.fileId, part.path));
      else {
        const step = stepOf(meta, `attachment/${index}`);
        const fileId = deriveId(step.commandId, 'attachment');
        await this.add(fileId, owner, part, step);
        parts.push(await this.partOf(owner, fileId, part.path));
      }
    return parts;
  }

  /** A file for a model outside of conversations: an image for a model with vision, otherwise the extracted text. Rejects like `own`, and `unsupported_parameter` for an image if the model has no vision. */
  async shown(
    participants: Participants,
    fileId: string,
    path: string,
    sees: boolean,
  ): Promise<FileContent | TextPart> {
    const part = await this.partOf(participants, fileId, path);
    if (!isImage(part.mediaType)) return { type: 'text', text: wordsOf(part) };
    if (!sees) return reject('unsupported_parameter', { path, reason: 'sees_nothing' });
    const { file } = await this.own(participants, fileId, `${path}.fileId`);
    const data = await this.blobs.get(streamOf(attachmentDecider.category, fileId), file);
    if (data === undefined) return reject('not_found', { kind: 'file', id: fileId, path: `${path}.fileId` });
    return { type: 'file', mediaType: part.mediaType, data, filename: part.filename, inWords: wordsOf(part) };
  }

  /** The images of a context for a model that sees them, the newest first as far as they fit; none for others. */
  async images(
    { model: key }: Pick<AnsweringAgent, 'model'>,
    newestFirst: readonly SaidMessage[],
  ): Promise<ReadonlyMap<string, FileContent>> {
    const images = new Map<string, FileContent>();
    const { models, defaultModel } = this.models.catalogue;
    const model = models.get(key ?? defaultModel);
    if (model === undefined || !seesImages(model)) return images;
    let room = MOST_IMAGE_BYTES;
    for (const part of newestFirst.flatMap(({ parts }) => parts)) {
      if (part.type !== 'file' || !isImage(part.mediaType) || images.has(part.fileId)) continue;
      const { state } = await this.decisions.load(attachmentDecider, part.fileId);
      if (state.status !== 'present' || state.sizeBytes > room) continue;
      const data = await this.blobs.get(streamOf(attachmentDecider.category, part.fileId), state.file);
      if (data === undefined) continue;
      room -= data.length;
      images.set(part.fileId, { type: 'file', mediaType: part.mediaType, data, filename: part.filename });
    }
    return images;
  }

  /** Deletes a file unless an existing message refers to it, even one that came after the deletion at `position`. */
  deleteUnlessNamed(fileId: string, position: Position, meta: CommandMeta): Promise<void> {
    return this.files.holding([fileId], async () => {
      if (await this.references.isNamedSince(fileId, position)) return;
      await this.decisions.transact(attachmentDecider, fileId, { type: 'Delete' }, meta);
    });
  }

  /** Deletes files that expired before any question named them. */
  async deleteExpired(): Promise<void> {
    const now = this.clock.now();
    if (now.getTime() - this.sweptAt < SWEEP_EVERY_MS) return;
    this.sweptAt = now.getTime();
    await eachOfAll(await this.references.unused(), async (fileId) => {
      const { state } = await this.decisions.load(attachmentDecider, fileId);
      if (state.status !== 'present') return true;
      if (Date.parse(state.expiresAt) + GRACE_MS > now.getTime()) return false;
      const commandId = deriveId(fileId, 'expired');
      const meta = { commandId, correlationId: commandId, actor: 'system:attachments', now };
      await this.decisions.transact(attachmentDecider, fileId, { type: 'Delete' }, meta);
      return true;
    });
  }

  private async partOf(participants: Participants, fileId: string, path: string): Promise<FilePart> {
    const { filename, mediaType, size, text: name } = await this.own(participants, fileId, `${path}.fileId`);
    const stream = streamOf(attachmentDecider.category, fileId);
    const text = name === undefined ? undefined : (await this.blobs.get(stream, name))?.toString();
    const shown = isErased(filename) ? 'file' : filename;
    return {
      type: 'file',
      fileId,
      filename: shown,
      mediaType,
      ...(size === undefined ? {} : { size }),
      ...(text === undefined ? {} : { text }),
    };
  }

  /** What can be read in it; nothing where the parser finds nothing, or the file is damaged or encrypted. */
  private async textIn({ filename, mediaType, body }: GivenFile): Promise<string> {
    if (mediaType.startsWith('text/')) return bounded(new TextDecoder().decode(body));
    const signal = AbortSignal.timeout(READ_MS);
    try {
      const json = await this.reading.run(
        () => this.parser.read({ name: filename, mimeType: mediaType, body }, signal),
        signal,
      );
      return bounded((JSON.parse(json.toString('utf8')) as Extraction).text);
    } catch (error) {
      if (error instanceof ExtractionFailure || signal.aborted) return '';
      throw error;
    }
  }

  /** Bodies that a repeat stored once more. */
  private async removeUnnamed(fileId: string, stored: readonly string[]): Promise<void> {
    const { state } = await this.decisions.load(attachmentDecider, fileId);
    const named = state.status === 'present' ? [state.file, state.text] : [];
    await discardBodies(
      this.blobs,
      stored.filter((name) => !named.includes(name)),
    );
  }
}

const bounded = (text: string): string => text.slice(0, MOST_TEXT).replaceAll('\0', '').toWellFormed().trim();
