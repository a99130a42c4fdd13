import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorRegistry } from './error-registry';
import { rejectionSentence, saidReasons } from './rejection-sentences';

const root = join(__dirname, '../../..');
const sources = ['apps', 'libs', 'projections'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.(spec|contract)\.ts$/.test(file) && !file.includes('node_modules'))
    .map((file) => ({ file: join(folder, file), text: readFileSync(join(root, folder, file), 'utf8') })),
);

/** What is written in the product's code as rejections with a code, with the place. */
const rejections = (code: string): readonly { readonly file: string; readonly facts: string }[] =>
  sources.flatMap(({ file, text }) =>
    [...text.matchAll(new RegExp(`reject\\('${code}'(?:, \\{([^}]*)\\})?\\)`, 'g'))].map(([, facts = '']) => ({
      file,
      facts,
    })),
  );

const literal = (facts: string, name: string): string | undefined =>
  new RegExp(`\\b${name}: '([^']+)'`).exec(facts)?.[1];

describe('every rejection in the code', () => {
  it('that finds nothing names the kind and the id, but for deciders of one aggregate, whose name is added', () => {
    const unnamed = rejections('not_found').filter(
      ({ file, facts }) => !file.endsWith('.decider.ts') && !(/\bkind\b/.test(facts) && /\bid\b/.test(facts)),
    );
    expect(unnamed).toEqual([]);
    const kinds = rejections('not_found').flatMap(({ facts }) => literal(facts, 'kind') ?? []);
    expect(kinds.length).toBeGreaterThan(30);
    expect(
      kinds.filter((kind) => rejectionSentence({ code: 'not_found', facts: { kind, id: 'x' } }) === undefined),
    ).toEqual([]);
  });

  it('that finds a conflict has a reason with a sentence', () => {
    const reasons = rejections('conflict').map(({ file, facts }) => ({ file, reason: literal(facts, 'reason') }));
    expect(reasons.length).toBeGreaterThan(10);
    expect(reasons.filter(({ reason }) => reason === undefined || !saidReasons.conflict.includes(reason))).toEqual([]);
    expect(saidReasons.conflict.filter((said) => !reasons.some(({ reason }) => reason === said))).toEqual([]);
  });

  it('that forbids names a permission, a role, or why', () => {
    const undeclared = 'libs/http/src/admission.ts';
    const silent = rejections('forbidden').filter(({ file, facts }) => {
      const reason = literal(facts, 'reason') ?? literal(facts, 'path');
      return (
        !/\b(permission|role)\b/.test(facts) &&
        reason !== 'members_only' &&
        (reason === undefined || !saidReasons.forbidden.includes(reason)) &&
        !(file === undeclared && facts === '')
      );
    });
    expect(silent).toEqual([]);
  });

  it('of a field says what is wrong with it', () => {
    const reasons = rejections('invalid_body').map(({ facts }) => literal(facts, 'reason'));
    expect(reasons.filter((reason) => reason === undefined || !saidReasons.bodies.includes(reason))).toEqual([]);
  });
});

describe('a sentence', () => {
  const said = (code: string, facts: Parameters<typeof rejectionSentence>[0]['facts']) =>
    rejectionSentence({ code, facts });

  it.each([
    [
      'not_found',
      { kind: 'agent', id: 'a1' },
      'Agent a1 not found, or not visible to you. Check the id, and what the key and its user may access.',
    ],
    ['not_found', { kind: 'tags', id: 'x' }, undefined],
    [
      'agent_not_granted',
      { kind: 'agent', id: 'a1' },
      'This API key has no access to Agent a1. Add it to agentIds of the key, or use a key for all Agents.',
    ],
    [
      'forbidden',
      { permission: 'agents:write' },
      'This needs the permission agents:write. This API key lacks it, or the role of its user does not allow it. Use a key that has it, or ask an admin for one.',
    ],
    [
      'forbidden',
      { role: 'editor', kind: 'space', id: 's1' },
      'This needs the role editor in Space s1. Ask an owner of the Space for it.',
    ],
    [
      'forbidden',
      { role: 'editor', kind: 'agent', id: 'a1' },
      'This needs the role editor in the Space of Agent a1. Ask an owner of the Space for it.',
    ],
    ['forbidden', {}, undefined],
    [
      'conflict',
      { reason: 'last_admin' },
      'You cannot delete, suspend or demote the last admin. Make another user an admin first.',
    ],
    ['name_taken', { path: 'slug' }, 'slug is already in use. Choose another.'],
    [
      'precondition_failed',
      { expected: 1, actual: 3 },
      'This is now at revision 3, but If-Match says 1. Read it again, and repeat your change.',
    ],
    ['rate_limited', { retryAfterSeconds: 7 }, 'Too many requests this minute. Retry in 7 s.'],
    ['internal', {}, undefined],
  ])('of the code %s with %j says what to do', (code, facts, sentence) => expect(said(code, facts)).toBe(sentence));

  it('repeats no more than a hundred characters of an id, and no half of one', () => {
    expect(said('not_found', { kind: 'page', id: `${'x'.repeat(99)}\u{1f600}` })).toContain(
      `${'x'.repeat(99)}\ufffd not`,
    );
    expect(said('not_found', { kind: 'page', id: 'x'.repeat(10_000) })?.length).toBeLessThan(250);
  });

  it('stands in the registry for every code, in case there is nothing to say of the case', () => {
    const { agent_not_public: asSpecified, ...others } = errorRegistry;
    expect(asSpecified.detail).toBe('Agent is not public');
    for (const { detail } of Object.values(others)) expect(detail).toMatch(/[.]$/);
  });
});
