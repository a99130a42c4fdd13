import { randomBytes } from 'node:crypto';
import type { Parser } from '@app/extraction';
import {
  type CommandMeta,
  Decisions,
  deriveId,
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
import { attachmentEvents } from './attachment.events';
import { Attachments } from './attachments';
import { FileClaims } from './file-claims';
import { FileReferences } from './file-references';

const HOUR = 60 * 60_000;
const id = (name: string) => deriveId('01990000-0000-7000-8000-000000000001', name);
const owner = { userId: id('user'), agentId: id('agent'), spaceId: id('space') };
const fileId = id('file');
const file = { filename: 'a.txt', mediaType: 'text/plain', body: Buffer.from('Words.') };

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
  const attachments = new Attachments(
    decisions,
    blobs,
    // Of a parser, whose class has private members, nothing else is called.
    { read: () => Promise.reject(new Error('text needs no parser')) } as unknown as Parser,
    {} as Models,
    clock,
    new FileReferences(decisions, async () => [{ fileId }], { head: async () => '1' as Position }),
    new FileClaims(new Claims(new MemoryCoordinationStore(), clock, 'p', 5_000)),
  );
  const meta = (command = 'add'): CommandMeta => ({
    commandId: id(command),
    correlationId: id(command),
    actor: `user:${owner.userId}`,
    now: clock.now(),
  });
  await attachments.add(fileId, owner, file, meta());
  return { attachments, decisions, log, blobs, clock, meta, types: () => log.events.map(({ type }) => type) };
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
