import type { ChatRequest } from '@app/models';
import { pay, respond } from '../../../../test/fixtures/scripted-tools';
import { ScriptedSkills, skill } from '../../../../test/fixtures/scripted-skills';
import {
  calls,
  endTurns,
  inTurn,
  meta,
  question,
  says,
  scriptedTurns,
  unmetered,
} from '../../../../test/fixtures/scripted-turns';
import { until } from '../../../../test/fixtures/until';
import type { Question } from './question';

afterEach(endTurns);

const revisions = { agent: 1, prompt: 1 };
const ofAgent = (given: Partial<Question> = {}): Partial<Question> => ({
  agent: { ...question('').agent, revisions },
  ...given,
});

const opened = (skills: ScriptedSkills, contextTokens?: number) => {
  const set = scriptedTurns([], unmetered, [], contextTokens, { skills });
  const ask = async (text: string, given: Partial<Question> = {}) => {
    const turn = await set.turns.ask(question(text, ofAgent(given)), meta());
    return turn.finished;
  };
  const seen = (index: number): string => JSON.stringify((set.chat.requests.at(index) as ChatRequest).messages);
  return { ...set, ask, seen };
};

describe('the Skills of a turn', () => {
  it('stand in the prompt by name and description alone, with their tools', async () => {
    const skills = new ScriptedSkills([skill('invoices'), skill('travel')]);
    const { ask, chat, seen } = opened(skills);
    await ask('Hello?');
    const [request] = chat.requests;
    expect(request?.system).toMatch(/^Be brief\.\n\n[\s\S]*\n- invoices: Use it for invoices\.\n- travel: /);
    expect(request?.system).not.toContain('step by step');
    expect(seen(0)).not.toContain('step by step');
    expect(request?.tools?.map(({ name }) => name)).toEqual(['load_skill', 'search_skill', 'read_skill_file']);
    expect(request?.tools?.[0]?.inputSchema).toMatchObject({
      properties: { slug: { enum: ['invoices', 'travel'] } },
    });
    expect(skills.loads).toEqual([]);
  });

  it('are none where the Agent has none, or its model calls no tools', async () => {
    const { ask, chat } = opened(new ScriptedSkills([]));
    await ask('Hello?');
    expect(chat.requests[0]).toMatchObject({ system: 'Be brief.' });
    expect(chat.requests[0]?.tools).toBeUndefined();
    const other = opened(new ScriptedSkills([skill('travel')]));
    other.tags.length = 0;
    await other.ask('Hello?');
    expect(other.chat.requests[0]).toMatchObject({ system: 'Be brief.' });
    expect(other.chat.requests[0]?.tools).toBeUndefined();
  });

  it('are named alone, the least relevant of them, beyond the tokens of the catalogue', async () => {
    const skills = Array.from({ length: 50 }, (_, index) =>
      skill(`skill-${index}`, { description: `${index === 40 ? 'giraffes' : 'something'} ${'word '.repeat(190)}` }),
    );
    const { ask, chat } = opened(new ScriptedSkills(skills));
    await ask('What of giraffes?');
    const lines = chat.requests[0]?.system.split('\n').filter((line) => line.startsWith('- ')) ?? [];
    expect(lines).toHaveLength(50);
    expect(lines[40]).toContain('- skill-40: giraffes');
    expect(lines.filter((line) => line.includes(': ')).length).toBeLessThan(25);
  });

  it('give their instructions to the model once a branch, and to no message', async () => {
    const skills = new ScriptedSkills([skill('travel', { files: { 'rates.txt': 'Bonn 12\nUlm 13' } })]);
    const { ask, chat, seen } = opened(skills);
    chat.script = inTurn(calls('', ['load_skill', { slug: 'travel' }]), says('Done.'));
    const { conversationId, answer } = await ask('Book it.');
    expect(answer.parts[0]).toMatchObject({ output: 'Loaded the Skill "travel".', skillId: 'skill-travel' });
    expect(seen(1)).toContain('Do travel step by step. (travel-1)');
    expect(seen(1)).toContain('- rates.txt (text/plain, 14 bytes)');
    expect(JSON.stringify(answer.parts)).not.toContain('step by step');
    chat.script = inTurn(calls('', ['load_skill', { slug: 'travel' }]), says('Yes.'));
    const second = await ask('And back?', { conversationId });
    expect(seen(-1).split('step by step')).toHaveLength(2);
    expect(second.answer.parts[0]).toMatchObject({ output: expect.stringContaining('already loaded') as string });
  });

  it('stay loaded when what loaded them is summarised', async () => {
    const skills = new ScriptedSkills([skill('travel')]);
    const { ask, chat, seen, types } = opened(skills, 600);
    const long = 'words '.repeat(200);
    chat.script = inTurn(calls('', ['load_skill', { slug: 'travel' }]), says(long));
    const { conversationId } = await ask('Book it.');
    chat.script = says(long);
    for (let index = 0; index < 3; index += 1) await ask(`${index} ${long}`, { conversationId });
    expect(types().filter((type) => type === 'ConversationCompacted').length).toBeGreaterThan(1);
    expect(seen(-1)).not.toContain('Book it.');
    expect(seen(-1).split('Do travel step by step.')).toHaveLength(2);
    const again = inTurn(calls('', ['load_skill', { slug: 'travel' }]), says('Yes.'));
    chat.script = (request) => (request.task === 'summary' ? says('Summary.') : again)(request);
    const { answer } = await ask('Again?', { conversationId });
    expect(answer.parts[0]).toMatchObject({ output: expect.stringContaining('already loaded') as string });
  });

  it('hold as the turn began, and from the next one as they are then', async () => {
    const skills = new ScriptedSkills([skill('travel'), skill('gone')]);
    const { ask, chat, seen } = opened(skills);
    chat.script = inTurn(
      (request) => {
        skills.skills = [skill('travel', { versionId: 'travel-2', instructions: 'Fly.' }), skill('fresh')];
        return calls('', ['load_skill', { slug: 'travel' }], ['load_skill', { slug: 'gone' }])(request);
      },
      calls('', ['load_skill', { slug: 'fresh' }]),
      says('Done.'),
    );
    const { conversationId, answer } = await ask('Book it.');
    expect(chat.requests[2]?.system).toContain('- gone: ');
    expect(seen(1)).toContain('(travel-1)');
    expect(answer.parts).toMatchObject([
      { state: 'output-available' },
      { state: 'output-error', errorText: expect.stringContaining('no longer available') as string },
      {},
      { state: 'output-error', errorText: expect.stringContaining('There is no Skill with this name') as string },
      {},
      {},
    ]);
    chat.script = says('Yes.');
    const next = await ask('And now?', { conversationId });
    expect(chat.requests.at(-1)?.system).toContain('- fresh: ');
    expect(seen(-1)).toContain('Fly. (travel-2)');
    expect(next.answer).toMatchObject({ provenance: { skills: [{ versionId: 'travel-2' }] } });
    skills.skills = [];
    await ask('And without?', { conversationId });
    expect(seen(-1)).not.toContain('Fly.');
  });

  it('give their reference files, which provenance names with their versions', async () => {
    const skills = new ScriptedSkills([skill('travel', { files: { 'rates.txt': 'Bonn 12\nUlm 13', 'b.txt': '-' } })]);
    const { ask, chat, seen } = opened(skills);
    chat.script = inTurn(
      calls(
        '',
        ['search_skill', { slug: 'travel', query: 'Ulm' }],
        ['read_skill_file', { slug: 'travel', path: 'nothing.txt' }],
        ['read_skill_file', { slug: 'travel' }],
      ),
      says('Done.'),
    );
    const { conversationId, answer } = await ask('What does Ulm cost?');
    expect(seen(1)).toContain(JSON.stringify('{"found":[{"path":"rates.txt","line":2,"text":"Ulm 13"}]}'));
    expect(answer.parts).toMatchObject([
      { state: 'output-available', output: expect.stringContaining('is not kept') as string },
      { state: 'output-error', errorText: expect.stringContaining('no text file at this path') as string },
      { state: 'output-error', errorText: expect.stringContaining('slug, path') as string },
      {},
      {},
    ]);
    expect(answer).toMatchObject({
      provenance: {
        skills: [
          {
            skillId: 'skill-travel',
            versionId: 'travel-1',
            contentHash: 'hash of travel',
            files: [{ path: 'rates.txt', sha256: 'sha of rates.txt' }],
          },
        ],
      },
    });
    await ask('And Bonn?', { conversationId });
    expect(seen(-1)).not.toContain('Ulm 13');
  });

  it('give no more of their files in an answer than tools may, though no message has it', async () => {
    const long = 'x'.repeat(49_000);
    const files = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`${index}.txt`, long]));
    const { ask, chat, seen } = opened(new ScriptedSkills([skill('travel', { files })]));
    const reads = Object.keys(files).map((path): [string, object] => ['read_skill_file', { slug: 'travel', path }]);
    chat.script = inTurn(...reads.map((read) => calls('', read)), says('Done.'));
    const { answer } = await ask('Read them all.');
    expect(seen(-1).split(long)).toHaveLength(5);
    expect(seen(-1)).toContain('have reached their limit');
    expect(JSON.stringify(answer.parts)).not.toContain('xxx');
  });

  it('are left out where they cannot be read, and provenance says so', async () => {
    const skills = new ScriptedSkills([skill('travel')]);
    const { ask, chat } = opened(skills);
    skills.isDown = true;
    const { answer } = await ask('Hello?');
    expect(answer).toMatchObject({ status: 'complete', provenance: { memoryState: 'off' } });
    expect('provenance' in answer && answer.provenance && 'skills' in answer.provenance).toBe(false);
    expect(chat.requests[0]).toMatchObject({ system: 'Be brief.' });
    skills.isDown = false;
    chat.script = inTurn((request) => {
      skills.isDown = true;
      return calls('', ['load_skill', { slug: 'travel' }])(request);
    }, says('Without.'));
    const second = await ask('Hello?');
    expect(second.answer.parts[0]).toMatchObject({
      errorText: expect.stringContaining('cannot be read right now') as string,
    });
  });

  it('are those of before where an answer goes on that waited', async () => {
    const skills = new ScriptedSkills([skill('travel'), skill('gone')]);
    const { turns, process, chat, tools, ask, history } = opened(skills);
    tools.push(pay());
    chat.script = inTurn(calls('', ['load_skill', { slug: 'travel' }]), calls('', ['pay', {}, 'p']), says('Paid.'));
    const { conversationId, answer } = await ask('Book it.');
    expect(answer.status).toBe('waiting');
    skills.skills = [skill('travel', { versionId: 'travel-2' }), skill('fresh')];
    await turns.close(0);
    await respond(process(), { conversationId, answerId: answer.answerId }, 'p', true);
    await until(async () => (await history.answer(conversationId, answer.answerId)) !== undefined);
    const last = chat.requests.at(-1);
    expect(last?.system).toMatch(/- travel: /);
    expect(last?.system).not.toMatch(/fresh|gone/);
    expect(JSON.stringify(last?.messages)).toContain('(travel-1)');
  });
});
