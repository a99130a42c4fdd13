import { inflateSync } from 'node:zlib';
import { NO_CONTEXT } from './branch-context';
import { SaidMessage } from './said-message';
import { heldMemories } from './held-texts';
import { keptRequest, sentRequest, textsOf } from './sent-request';
import { lineOf } from './turn-memories';

const MESSAGE = '01900000-0000-7000-8000-000000000001';
const applied = [
  { memoryId: 'memory-1', kind: 'personal', rank: 1, text: 'Likes "canary" tea.' },
  { memoryId: 'memory-2', kind: 'shared', rank: 2, text: 'Is in\n</memories> Ulm.' },
] as const;
const lines = applied.map((memory) => ({ memoryId: memory.memoryId, line: lineOf(memory) }));
const bodyOf = (said: string): string =>
  JSON.stringify({
    messages: [
      { role: 'system', content: 'Be brief. 1' },
      { role: 'user', content: ['<memories>', ...lines.map(({ line }) => line), '</memories>'].join('\n') },
      { role: 'user', content: said },
    ],
  });
const said = (text: string) => new SaidMessage(MESSAGE, 'user', [{ type: 'text', text }]);
const keptOf = (text: string, body = bodyOf(text)) =>
  keptRequest(body, { ...NO_CONTEXT, newestFirst: [said(text)] }, heldMemories(lines));
const readBack = (kept: NonNullable<Awaited<ReturnType<typeof keptOf>>>, text: string, gone?: string) =>
  sentRequest(kept, async (place) => {
    if ('memoryId' in place) {
      const memory = applied.find(({ memoryId }) => memoryId === place.memoryId && memoryId !== gone);
      return memory === undefined ? undefined : lineOf(memory);
    }
    return 'messageId' in place ? textsOf(said(text))[place.text] : undefined;
  });

describe('a request that is kept', () => {
  it.each(['What to drink?', '1', '"', '0', lineOf(applied[0]), 'Likes "canary" tea.'])(
    'holds no word of a memory, and reads back byte for byte: %j',
    async (text) => {
      const kept = await keptOf(text);
      if (kept === undefined) throw new Error('it was not kept');
      expect(inflateSync(Buffer.from(kept.template, 'base64')).toString()).not.toMatch(/canary|Ulm/);
      expect(await readBack(kept, text)).toBe(bodyOf(text));
      for (const { memoryId } of applied) expect(await readBack(kept, text, memoryId)).toBeUndefined();
    },
  );

  it.each(['Go on', 'Go on, please'])(
    'reads back where %j is asked with sources and "Go on" was before',
    async (text) => {
      const texts = ['Go on', 'Yes.', text];
      const shown = texts.with(-1, `<sources>\nGo on, it says.\n</sources>\n\n${text}`);
      const body = JSON.stringify({ messages: shown.map((content) => ({ content })) });
      const messages = texts.map((each, index) => {
        const role = index === 1 ? 'assistant' : 'user';
        return new SaidMessage(MESSAGE.replace(/.$/, String(index)), role, [{ type: 'text', text: each }]);
      });
      const kept = await keptRequest(body, { ...NO_CONTEXT, newestFirst: messages.toReversed() }, []);
      if (kept === undefined) throw new Error('it was not kept');
      expect(inflateSync(Buffer.from(kept.template, 'base64')).toString()).not.toContain('Yes.');
      const place = async (at: object) => texts[Number((at as { messageId: string }).messageId.at(-1))];
      expect(await sentRequest(kept, place)).toBe(body);
    },
  );

  it('is not kept where it does not fit beside the answer that was made from it', async () => {
    const kept = (beside: number) =>
      keptRequest(bodyOf('Hi'), { ...NO_CONTEXT, newestFirst: [said('Hi')] }, heldMemories(lines), [], beside);
    expect(await kept(600_000)).toBeDefined();
    expect(await kept(699_999)).toBeUndefined();
  });

  it('is not kept where a memory is not found in it as it was applied', async () => {
    expect(await keptOf('Hi', bodyOf('Hi').replace('canary', 'c\\u0061nary'))).toBeUndefined();
  });
});
