import { randomBytes } from 'node:crypto';
import { changedThroughout, encryptField, fieldPlace, type Json, type StoredEvent } from '@app/kernel';
import { holdsContent, shownEvent } from './shown-event';

const key = randomBytes(32);
const stored: StoredEvent = {
  id: '01890000-0000-7000-8000-000000000001',
  position: '07',
  stream: 'agent-a1',
  revision: 2,
  type: 'AgentDescribed',
  data: JSON.stringify({
    description: encryptField(key, fieldPlace('agent-a1', 'description'), 'helps lawyers'),
    size: 13,
  }),
  metadata: JSON.stringify({ actor: 'user:u1', schema: '2', recordedAt: '2026-01-01T00:00:00.000Z' }),
};
const keys = new Map([['agent-a1', key]]);

describe('an event shown to an auditor', () => {
  it('hides content by default', () => {
    expect(shownEvent(stored, 8, keys, { content: false, raw: false })).toEqual({
      id: stored.id,
      position: '07',
      ordinal: 8,
      stream: 'agent-a1',
      revision: 2,
      type: 'AgentDescribed',
      schema: 2,
      data: { description: { encrypted: true }, size: 13 },
      meta: { actor: 'user:u1', schema: '2', recordedAt: '2026-01-01T00:00:00.000Z' },
      recordedAt: '2026-01-01T00:00:00.000Z',
    });
  });

  it('decrypts content when asked to', () => {
    expect(shownEvent(stored, null, keys, { content: true, raw: false }).data).toEqual({
      description: 'helps lawyers',
      size: 13,
    });
  });

  it('says that content is erased once its key is gone, asked for or not', () => {
    for (const content of [true, false])
      expect(shownEvent(stored, null, new Map(), { content, raw: false }).data).toEqual({
        description: { erased: true },
        size: 13,
      });
  });

  it('does the same inside objects and lists', () => {
    const label = encryptField(key, fieldPlace('agent-a1', 'tools[].name'), 'Finder');
    const nested = {
      ...stored,
      data: JSON.stringify({ public: { enabled: true }, tools: [{ id: 'f', name: label }] }),
    };
    expect(shownEvent(nested, null, keys, { content: true, raw: false }).data).toEqual({
      public: { enabled: true },
      tools: [{ id: 'f', name: 'Finder' }],
    });
    expect(shownEvent(nested, null, keys, { content: false, raw: false }).data).toEqual({
      public: { enabled: true },
      tools: [{ id: 'f', name: { encrypted: true } }],
    });
    expect(shownEvent(nested, null, new Map(), { content: true, raw: false }).data).toEqual({
      public: { enabled: true },
      tools: [{ id: 'f', name: { erased: true } }],
    });
    expect([holdsContent(nested, keys), holdsContent(nested, new Map())]).toEqual([true, false]);
  });

  it('never shows what was made of a secret, however it was stored', () => {
    const made = { ...stored, data: JSON.stringify({ secretHash: 'a1b2' }) };
    for (const content of [true, false])
      expect(shownEvent(made, null, keys, { content, raw: false }).data).toEqual({ secretHash: { encrypted: true } });
  });

  it('never shows copies of what documents say, of which earlier ones outlive these', () => {
    const copied = {
      provenance: { request: { template: 'provenance.request.template', hash: 'a1b2' } },
      passages: 'passages',
      sources: 'sources',
    };
    const hidden = changedThroughout(copied, '', (value, path) =>
      value === path
        ? (encryptField(key, fieldPlace('agent-a1', path), 'The ferry leaves at nine.') as Json)
        : undefined,
    );
    const event = { ...stored, data: JSON.stringify(hidden) };
    expect(shownEvent(event, null, keys, { content: true, raw: false }).data).toEqual({
      provenance: { request: { template: { encrypted: true }, hash: 'a1b2' } },
      passages: { encrypted: true },
      sources: { encrypted: true },
    });
    expect(shownEvent(event, null, new Map(), { content: true, raw: false }).data).toMatchObject({
      passages: { erased: true },
    });
  });

  it('says of what was damaged that it cannot be read, and shows the rest', () => {
    const show = (changed: Partial<StoredEvent>) => {
      const event = { ...stored, ...changed };
      return [holdsContent(event, keys), shownEvent(event, 8, keys, { content: true, raw: true })] as const;
    };
    for (const data of ['{"size":13', 'null', '[1]'])
      expect(show({ data })).toEqual([
        false,
        expect.objectContaining({ data: { unreadable: true }, recordedAt: '2026-01-01T00:00:00.000Z' }),
      ]);
    for (const metadata of ['{"entity":', '7', '{"actor":{}}'])
      expect(show({ metadata })[1]).toMatchObject({ type: 'AgentDescribed', schema: 1, meta: {}, recordedAt: '' });
    const [was] = /"[\w+/=_-]{40,}"/.exec(stored.data) ?? [''];
    const [, damaged] = show({ data: stored.data.replace(was, was.replace(/.{8}"$/, 'AAAAAAAA"')) });
    expect(damaged.data).toEqual({ description: { unreadable: true }, size: 13 });
  });

  it('adds the stored bytes unchanged', () => {
    const { raw } = shownEvent(stored, null, keys, { content: false, raw: true });
    expect(Buffer.from(raw?.data ?? '', 'base64').toString()).toBe(stored.data);
    expect(Buffer.from(raw?.metadata ?? '', 'base64').toString()).toBe(stored.metadata);
  });
});

test('an event holds content while a key can open it', () => {
  expect(holdsContent(stored, keys)).toBe(true);
  expect(holdsContent(stored, new Map())).toBe(false);
  expect(holdsContent({ ...stored, data: '{"size":13}' }, keys)).toBe(false);
});
