import { randomBytes } from 'node:crypto';
import { ExtractionFailure, type Parser } from '@app/extraction';
import {
  type CommandMeta,
  Decisions,
  deriveId,
  ERASED,
  EventCatalogue,
  EventCodec,
  type Keyring,
  type Position,
  Unavailable,
} from '@app/kernel';
import type { Models } from '@app/models';
import { FixedClock } from '../../../../test/fixtures/fixed-clock';
import { MemoryBlobs } from '../../../../test/fixtures/memory-blobs';
import { MemoryLog } from '../../../../test/fixtures/memory-log';
import { Claims } from '@app/coordination';
import { MemoryCoordinationStore } from '../../../../test/fixtures/memory-coordination-store';
import type { SaidMessage } from '../answering/said-message';
import { attachmentDecider } from './attachment.decider';
import { attachmentEvents } from './attachment.events';
import { Attachments } from './attachments';
import { FileClaims } from './file-claims';
import { FileReferences } from './file-references';
import { MOST_FILE_BYTES } from './media-type';

const HOUR = 60 * 60_000;
const id = (name: string) => deriveId('01990000-0000-7000-8000-000000000001', name);
const owner = { userId: id('user'), agentId: id('agent'), spaceId: id('space') };
const fileId = id('file');
const file = { filename: 'a.txt', mediaType: 'text/plain', body: Buffer.from('Words.') };

/** As bytes that are an image, of so many. */
const image = (size = 100) => ({
  filename: 'a.png',
  mediaType: 'image/png',
  body: Buffer.concat([Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1')], size),
});
const models = new Map(['sees', 'blind'].map((key) => [key, { key, tags: key === 'sees' ? ['vision'] : [] }]));

const attached = async () => {
  const keys = new Map<string, Buffer>();
  const keyring: Keyring = {
    ensureKey: async (stream) => keys.get(stream) ?? (keys.set(stream, randomBytes(32)).get(stream) as Buffer),
    keys: async () => keys,
  };
  const log = new MemoryLog();
  const codec = new EventCodec(new EventCatalogue(attachmentEvents), keyring);
  const [blobs, clock] = [new MemoryBlobs(), new FixedClock()];
  const decisions = new Decisions(log, codec);
  const references = new FileReferences(decisions, async () => [{ fileId }], { head: async () => '1' as Position });
  const attachments = new Attachments(
    decisions,
    blobs,
    // Of a parser, whose class has private members, nothing else is called: it finds no words.
    { read: async () => Promise.reject(new ExtractionFailure('malformed')) } as unknown as Parser,
    // Of models, no more is asked than what they are.
    { catalogue: { models, defaultModel: 'blind' } } as unknown as Models,
    clock,
    references,
    new FileClaims(new Claims(new MemoryCoordinationStore(), clock, 'p', 5_000, console)),
  );
  const meta = (command = 'add'): CommandMeta => ({
    commandId: id(command),
    correlationId: id(command),
    actor: `user:${owner.userId}`,
    now: clock.now(),
  });
  await attachments.add(fileId, owner, file, meta());
  return {
    attachments,
    decisions,
    references,
    log,
    blobs,
    clock,
    meta,
    types: () => log.events.map(({ type }) => type),
  };
};

describe('attached files', () => {
  it('are stored for a repeat too, whose bodies cannot be removed now', async () => {
    const { attachments, blobs, meta, types } = await attached();
    blobs.remove = () => Promise.reject(new Unavailable('blobs', 'no answer'));
    expect(await attachments.add(fileId, owner, file, meta())).toMatchObject({ repeated: true });
    await expect(attachments.add(fileId, owner, file, { ...meta(), commandHash: 'other' })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
    expect(types()).toEqual(['AttachmentAdded']);
  });

  it('are stored for a repeat too, whose bodies stay where the log does not say now which are named', async () => {
    const { attachments, decisions, meta, types } = await attached();
    jest.spyOn(decisions, 'load').mockRejectedValueOnce(new Unavailable('log', 'no answer'));
    expect(await attachments.add(fileId, owner, file, meta())).toMatchObject({ repeated: true });
    expect(types()).toEqual(['AttachmentAdded']);
  });

  it.each([
    ['unknown', 2],
    ['none', 0],
  ] as const)(
    'stay where the event that names them may have come, and only then: outcome %s',
    async (outcome, kept) => {
      const { attachments, log, blobs, meta } = await attached();
      const before = blobs.bodies.size;
      const failed = new Unavailable('log', 'no answer', outcome);
      jest.spyOn(log, 'append').mockRejectedValueOnce(failed);
      await expect(attachments.add(id('another file'), owner, file, meta('another'))).rejects.toBe(failed);
      expect(blobs.bodies.size - before).toBe(kept);
    },
  );

  it.each([
    ['another user', { userId: id('other') }, fileId],
    ['another Agent', { agentId: id('other') }, fileId],
    ['nobody', {}, id('unknown')],
  ])('are unknown to %s, with the field that names them', async (_, participants, asked) => {
    const { attachments } = await attached();
    await expect(
      attachments.own({ ...owner, ...participants }, asked, 'message.parts[0].fileId'),
    ).rejects.toMatchObject({
      code: 'not_found',
      facts: { kind: 'file', id: asked, path: 'message.parts[0].fileId' },
    });
  });

  it('are there for a day, and are deleted an hour later if no message named them', async () => {
    const { attachments, clock, types } = await attached();
    clock.advance(24 * HOUR - 1);
    await attachments.own(owner, fileId);
    clock.advance(1);
    await expect(attachments.own(owner, fileId)).rejects.toMatchObject({ code: 'not_found' });
    await attachments.deleteExpired();
    expect(types()).toEqual(['AttachmentAdded']);
    clock.advance(HOUR);
    await attachments.deleteExpired();
    expect(types()).toEqual(['AttachmentAdded', 'AttachmentDeleted']);
  });

  it('are stored once, however often the command is repeated', async () => {
    const { attachments, blobs, meta, types } = await attached();
    const stored = [...blobs.bodies.keys()];
    await attachments.add(fileId, owner, file, meta());
    expect([types(), [...blobs.bodies.keys()]]).toEqual([['AttachmentAdded'], stored]);
  });

  it('are as large as may be, and no larger', async () => {
    const { attachments, blobs, meta } = await attached();
    const before = blobs.bodies.size;
    await attachments.add(id('most'), owner, image(MOST_FILE_BYTES), meta('most'));
    expect(blobs.bodies.size).toBe(before + 1);
    await expect(attachments.add(id('more'), owner, image(MOST_FILE_BYTES + 1), meta('more'))).rejects.toMatchObject({
      code: 'too_large',
      facts: { limit: MOST_FILE_BYTES },
    });
    expect(blobs.bodies.size).toBe(before + 1);
  });

  it('are parts of a question in its order, those that come with it and those that are named', async () => {
    const { attachments, meta } = await attached();
    const [words, path] = [{ type: 'text' as const, text: 'What is it?' }, 'message.parts[0]'];
    const given = [words, { type: 'file' as const, path, fileId }, { type: 'file' as const, path, ...image() }];
    const parts = await attachments.asking(given, owner, meta('ask'), async (asked) => asked);
    const sent = parts[2]?.type === 'file' ? parts[2].fileId : '';
    expect(parts).toEqual([
      words,
      { type: 'file', fileId, filename: 'a.txt', mediaType: 'text/plain', text: 'Words.' },
      { type: 'file', fileId: sent, filename: 'a.png', mediaType: 'image/png' },
    ]);
    expect(await attachments.own(owner, sent)).toMatchObject({ status: 'present', sizeBytes: 100 });
  });

  it('are gone once they are erased, also before that is recorded', async () => {
    const { attachments, decisions } = await attached();
    const { state, ...loaded } = await decisions.load(attachmentDecider, fileId);
    jest.spyOn(decisions, 'load').mockResolvedValue({ ...loaded, state: { ...state, filename: ERASED } });
    await expect(attachments.own(owner, fileId)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('stay as long as a message names them', async () => {
    const { attachments, references, clock, meta, types } = await attached();
    const isNamed = jest.spyOn(references, 'isNamed').mockResolvedValue(true);
    const isNamedSince = jest.spyOn(references, 'isNamedSince').mockResolvedValue(true);
    clock.advance(25 * HOUR);
    await attachments.own(owner, fileId);
    await attachments.deleteUnlessNamed(fileId, '1' as Position, meta('delete'));
    expect(types()).toEqual(['AttachmentAdded']);
    for (const named of [isNamed, isNamedSince]) named.mockResolvedValue(false);
    await attachments.deleteUnlessNamed(fileId, '1' as Position, meta('delete'));
    expect(types()).toEqual(['AttachmentAdded', 'AttachmentDeleted']);
  });

  it('are looked through for expired ones once a minute, also behind one that is gone', async () => {
    const { attachments, references, decisions, clock, meta, types } = await attached();
    await attachments.add(id('gone'), owner, file, meta('gone'));
    await decisions.transact(attachmentDecider, id('gone'), { type: 'Delete' }, meta('delete'));
    const unused = jest.spyOn(references, 'unused').mockResolvedValue([id('gone'), fileId]);
    for (let look = 0; look < 2; look += 1) await attachments.deleteExpired();
    expect(unused).toHaveBeenCalledTimes(1);
    clock.advance(25 * HOUR);
    await attachments.deleteExpired();
    expect(unused).toHaveBeenCalledTimes(2);
    expect(types().filter((type) => type === 'AttachmentDeleted')).toHaveLength(2);
  });

  it('are shown as they are to a model that sees them, and in words otherwise', async () => {
    const { attachments, blobs, meta } = await attached();
    const [path, imageId] = ['image', id('image')];
    await attachments.add(imageId, owner, image(), meta('image'));
    expect(await attachments.shown(owner, fileId, path, true)).toMatchObject({ type: 'text' });
    expect(await attachments.shown(owner, imageId, path, true)).toMatchObject({ type: 'file', data: image().body });
    await expect(attachments.shown(owner, imageId, path, false)).rejects.toMatchObject({
      code: 'unsupported_parameter',
    });
    await blobs.remove([...blobs.bodies.keys()]);
    await expect(attachments.shown(owner, imageId, path, true)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('are images of a context for a model that sees them: the newest as far as they fit, each once', async () => {
    const { attachments, decisions, blobs, meta } = await attached();
    const MIB = 1024 ** 2;
    const sizes = { newest: 8 * MIB, large: 13 * MIB, oldest: 7 * MIB, deleted: 100, lost: 100 };
    for (const [name, size] of Object.entries(sizes)) await attachments.add(id(name), owner, image(size), meta(name));
    await decisions.transact(attachmentDecider, id('deleted'), { type: 'Delete' }, meta('delete'));
    await blobs.remove([(await attachments.own(owner, id('lost'))).file]);
    const part = (name: string, mediaType = 'image/png') =>
      ({ type: 'file', fileId: id(name), filename: name, mediaType }) as const;
    const names = ['deleted', 'lost', 'newest', 'newest', 'large', 'oldest'];
    // Of a message, no more is read than its parts.
    const said = { parts: [...names.map((name) => part(name)), part('file', 'text/plain')] } as unknown as SaidMessage;
    const shown = async (model: string | null) =>
      [...(await attachments.images({ model }, [said])).values()].map(({ filename }) => filename);
    expect(await shown('sees')).toEqual(['newest', 'oldest']);
    for (const other of [null, 'blind', 'unknown']) expect(await shown(other)).toEqual([]);
  });

  it('are stored for no question that names one which is not there', async () => {
    const { attachments, blobs, meta } = await attached();
    const stored = blobs.bodies.size;
    const parts = [
      { type: 'file' as const, path: 'message.parts[0]', ...file },
      { type: 'file' as const, path: 'message.parts[1]', fileId: id('unknown') },
    ];
    const ask = jest.fn();
    await expect(attachments.asking(parts, owner, meta('ask'), ask)).rejects.toMatchObject({ code: 'not_found' });
    expect([blobs.bodies.size, ask.mock.calls]).toEqual([stored, []]);
  });
});
