import { inflateSync } from 'node:zlib';
import { ScriptedSkills, skill } from '../../../../test/fixtures/scripted-skills';
import { NO_CONTEXT } from './branch-context';
import { heldSkills } from './held-texts';
import { SaidMessage } from './said-message';
import { keptRequest, sentRequest, skillsOf, textsOf } from './sent-request';
import { catalogueOf } from './skill-catalogue';
import { foundText, loadedText, readText, type SkillPlace, skillTextAt } from './skill-texts';

const MESSAGE = '01900000-0000-7000-8000-000000000001';
const travel = skill('travel', {
  description: 'For "canary"\nflights.',
  instructions: 'Take the canary.',
  files: { 'user.txt': 'user', 'big.txt': `canary\n${'x'.repeat(60_000)}` },
});
const other = skill('invoices', { description: `canary ${'word '.repeat(300)}` });
const port = new ScriptedSkills([travel, other]);
const place = (of: SkillPlace['of']): SkillPlace => ({ skillId: travel.skillId, versionId: travel.versionId, of });

/** What a turn had: one Skill by its name alone, another one loaded, before and now, read and searched. */
const begun = async () => {
  const { skills } = await port.of();
  const texts = {
    loaded: loadedText(travel, await port.load(travel)),
    read: readText(travel.files['big.txt'] ?? ''),
    short: readText('user'),
    found: foundText(await port.search(travel, 'canary')),
  };
  return {
    texts,
    shown: {
      catalogue: catalogueOf(skills, 'flights', 40),
      skills,
      loaded: [{ place: place('loaded'), text: texts.loaded }],
      read: [
        { place: place({ path: 'big.txt' }), text: texts.read },
        { place: place({ path: 'user.txt' }), text: texts.short },
        { place: place({ query: 'canary' }), text: texts.found },
      ],
    },
  };
};
const earlier = new SaidMessage(MESSAGE, 'assistant', [
  {
    type: 'tool',
    toolName: 'load_skill',
    toolCallId: 'one',
    state: 'output-available',
    input: { slug: 'travel' },
    output: 'Loaded the Skill "travel".',
    skillId: travel.skillId,
  },
]);
const sent = async (): Promise<string> => {
  const { texts, shown } = await begun();
  const results = [texts.read, texts.short, texts.found, `Loaded it.\n\n${texts.loaded}`];
  return JSON.stringify({
    messages: [
      { role: 'system', content: `Be brief.\n\n${shown.catalogue}` },
      { role: 'assistant', call: JSON.stringify({ slug: 'travel' }) },
      { role: 'tool', content: `Loaded the Skill "travel".\n\n${texts.loaded}` },
      ...results.map((content) => ({ role: 'tool', content })),
    ],
    tools: [{ name: 'load_skill', parameters: { slug: { enum: shown.skills.map(({ slug }) => slug) } } }],
  });
};
const kept = async (body: string) =>
  keptRequest(body, { ...NO_CONTEXT, newestFirst: [earlier] }, heldSkills((await begun()).shown), [travel.skillId]);

it('a request is kept without a word of a Skill, and read back byte for byte while its Skills are there', async () => {
  const body = await sent();
  expect(body).toContain('\\n- invoices"');
  const request = await kept(body);
  if (request === undefined) throw new Error('it was not kept');
  const template = inflateSync(Buffer.from(request.template, 'base64')).toString();
  expect(template).not.toMatch(/flights|Take the|xxx|word/u);
  expect(template.match(/canary/gu)).toEqual(['canary']); // The query, which the message has as well.
  const { all, loaded } = await skillsOf(request.template);
  expect([[...all].toSorted(), [...loaded]]).toEqual([[other.skillId, travel.skillId], [travel.skillId]]);
  const readBack = () =>
    sentRequest(request, async (at) => {
      if ('skillId' in at) return skillTextAt(port, at);
      return 'messageId' in at ? textsOf(earlier, loaded)[at.text] : undefined;
    });
  expect(await readBack()).toBe(body);
  port.skills = [travel];
  expect(await readBack()).toBeUndefined();
  port.skills = [travel, other];
});

it.each(['Take the canary', '- invoices', '"enum"', 'user'])(
  'a request is not kept where %j stands in it in another way than it was shown',
  async (text) => {
    const body = (await sent()).replaceAll(text, `${text.slice(0, 3)}_${text.slice(3)}`);
    expect(await kept(body)).toBeUndefined();
  },
);
