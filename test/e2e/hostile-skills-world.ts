import { hostileSkills } from '../fixtures/files/hostile-skills';
import { processorTime } from '../fixtures/processor-time';
import { alice, create, platform, withSpaces } from './spaces-world';

/** A Space in which nothing is ever saved, and archives and texts that are refused there. */

interface Problem {
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly { readonly message: string }[];
}
/** Processor time of this process for a request that is refused, milliseconds: its parser works in a process apart. Whatever else it does meanwhile counts too. */
export const MOST_MS = 2_500;
/** What no archive of one Skill may be, and one of several may. */
const OF_SEVERAL = ['two SKILL.md at one depth', 'SKILL.md further down', 'a file beside the one folder'];

let spaceId: string;
/** Starts a platform with that Space. */
export const withHostileSkills = (): void => {
  withSpaces();
  beforeAll(async () => {
    spaceId = (await create('Hostile')).body.id;
  });
};

export const post = async (path: string, file: Buffer | string, name: string) => {
  const form = new FormData();
  form.append('scope', 'space');
  form.append('spaceId', spaceId);
  form.append('file', new Blob([typeof file === 'string' ? file : new Uint8Array(file)]), name);
  const encoded = new Response(form);
  const payload = Buffer.from(await encoded.arrayBuffer());
  const spent = processorTime();
  const { status, body } = await platform.call<Problem>(`/api/v1/core/skills${path}`, {
    method: 'POST',
    key: alice.key,
    headers: { 'content-type': encoded.headers.get('content-type') ?? '' },
    payload,
  });
  return { status, body, milliseconds: spent() };
};
export const expectNothing = async (): Promise<void> => {
  const { body } = await platform.call<{ items: readonly object[] }>(`/api/v1/core/skills?spaceId=${spaceId}`, {
    key: alice.key,
  });
  expect(body.items).toEqual([]);
  expect(await platform.platform.host.stores.blobs.list(null, 10)).toEqual([]);
};

/** Sends an archive by both ways in. */
export const expectRefused = async ([kind, zip, message]: (typeof hostileSkills)[number]): Promise<void> => {
  const answers = [await post('', zip, 'a.zip')];
  expect(answers[0]?.body.detail.replace(/^file: /, '')).toMatch(message);
  if (!OF_SEVERAL.includes(kind)) answers.push(await post('/import', zip, 'a.skill'));
  for (const { status, body, milliseconds } of answers) {
    expect([status, body.code]).toEqual(status === 413 ? [413, 'too_large'] : [400, 'invalid_archive']);
    expect(milliseconds).toBeLessThan(MOST_MS);
  }
  await expectNothing();
};
